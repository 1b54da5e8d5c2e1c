/** A graph that returns what it was given: its state is twice as large as its input. */

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const Echo = Annotation.Root({ x: Annotation<unknown>(), out: Annotation<unknown>() })

export const echo = new StateGraph(Echo)
  .addNode('say', ({ x }) => ({ out: x }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile()
