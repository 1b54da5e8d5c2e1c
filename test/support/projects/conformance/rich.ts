/** State that JSON alone cannot hold, and a node that changes state in place. */

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const Rich = Annotation.Root({
  when: Annotation<Date>(),
  table: Annotation<Map<string, number>>(),
  seen: Annotation<string[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
})

/** The second node, and every later run, must find a Date and a Map again. */
export const rich = new StateGraph(Rich)
  .addNode('fill', (state) => {
    const found = state.when === undefined
      ? 'nothing'
      : `${state.when instanceof Date} ${state.table instanceof Map}`
    return { when: new Date(0), table: new Map([['one', 1]]), seen: [`before: ${found}`] }
  })
  .addNode('look', (state) => ({
    seen: [`${state.when.getTime()} ${state.table.get('one')}`],
  }))
  .addEdge(START, 'fill')
  .addEdge('fill', 'look')
  .addEdge('look', END)
  .compile()

interface Card {
  title: string
  marks: number
}

const Cards = Annotation.Root({
  cards: Annotation<Card[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
  turn: Annotation<number>(),
})

/** Marks every card in place and returns something else. */
export const inplace = new StateGraph(Cards)
  .addNode('mark', (state) => {
    for (const card of state.cards) card.marks += 1
    return { turn: (state.turn ?? 0) + 1 }
  })
  .addEdge(START, 'mark')
  .addEdge('mark', END)
  .compile()
