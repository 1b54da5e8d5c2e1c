/** Graphs whose state is large: because the input is, or because they make it so. */

import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph'

const State = Annotation.Root({ x: Annotation<unknown>, out: Annotation<unknown> })

/** Megabytes of texts that are as long as a page. */
const listOf = (megabytes: number) =>
  Array.from({ length: megabytes * 256 }, (_, n) => `${n} `.padEnd(3_500, 'long "text" of words, '))

/** Copies its input. */
export const echo = new StateGraph(State)
  .addNode('copy', ({ x }) => ({ out: x }))
  .addEdge(START, 'copy').addEdge('copy', END).compile()

/** Makes as many megabytes as its input says. */
export const make = new StateGraph(State)
  .addNode('fill', ({ x }) => ({ out: listOf(Number(x)) }))
  .addEdge(START, 'fill').addEdge('fill', END).compile()

/** Asks with a question of as many megabytes as its input says. */
export const asks = new StateGraph(State)
  .addNode('ask', ({ x }) => ({ out: interrupt(listOf(Number(x))) }))
  .addEdge(START, 'ask').addEdge('ask', END).compile()

const List = Annotation.Root({
  list: Annotation<unknown[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
})

/** Appends its input to a list. */
export const list = new StateGraph(List)
  .addNode('rest', () => ({ list: [] }))
  .addEdge(START, 'rest').addEdge('rest', END).compile()
