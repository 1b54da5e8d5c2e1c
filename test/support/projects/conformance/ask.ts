/** Graphs that wait for a human: once, twice in one node, two at a time. */

import { Annotation, END, interrupt, MessagesAnnotation, START,
  StateGraph } from '@langchain/langgraph'
import { z } from 'zod'

const Asked = Annotation.Root({
  question: Annotation<string>(),
  answers: Annotation<string[]>({
    reducer: (kept, added) => kept.concat(added),
    default: () => [],
  }),
})

/** Asks the question and keeps the answer; `after` shows that the graph went on. */
export const ask = new StateGraph(Asked)
  .addNode('ask', (state) => ({ answers: [interrupt({ question: state.question }) as string] }))
  .addNode('after', () => ({ answers: ['after'] }))
  .addEdge(START, 'ask')
  .addEdge('ask', 'after')
  .addEdge('after', END)
  .compile()

/** Asks with whatever it was given as the question, and keeps whatever is answered. */
export const askany = new StateGraph(Asked)
  .addNode('ask', (state) => ({ answers: [interrupt(state.question) as string] }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile()

/** Two nodes ask in the same superstep. */
export const askboth = new StateGraph(Asked)
  .addNode('left', () => ({ answers: [`left ${interrupt('left?') as string}`] }))
  .addNode('right', () => ({ answers: [`right ${interrupt('right?') as string}`] }))
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .addEdge('left', END)
  .addEdge('right', END)
  .compile()

/** One node asks twice, one after the other. */
export const asktwice = new StateGraph(Asked)
  .addNode('ask', () => {
    const first = interrupt('first?') as string
    const second = interrupt('second?') as string
    return { answers: [first, second] }
  })
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile()

/** The oldest engines pass over the options. */
const askFor = interrupt as (value: unknown, options: object) => string

/** One node asks twice, and says what the answers must be. */
export const form = new StateGraph(Asked)
  .addNode('ask', () => {
    const first = askFor('how many?', { responseSchema: z.number().int() })
    const second = askFor('which?', { responseSchema: { type: 'string', maxLength: 8 } })
    return { answers: [first, second] }
  })
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile()

/** One node asks while the one beside it answers for itself. */
export const askone = new StateGraph(Asked)
  .addNode('ask', () => ({ answers: [interrupt('which?') as string] }))
  .addNode('tell', () => ({ answers: ['told'] }))
  .addEdge(START, 'ask')
  .addEdge(START, 'tell')
  .addEdge('ask', END)
  .addEdge('tell', END)
  .compile()

/** A chat that asks before it answers, and says what was answered. */
export const chatask = new StateGraph(MessagesAnnotation)
  .addNode('ask', () => ({ messages: [{ role: 'ai', content: `told ${interrupt('sure?')}` }] }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile()
