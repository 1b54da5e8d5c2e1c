/** A graph that blocks its event loop, as bad user code does. */

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const Spin = Annotation.Root({
  /** How long to spin; below zero for ever. */
  ms: Annotation<number>(),
  /** A URL fetched once, without waiting for the answer, when the spinning begins. */
  tell: Annotation<string>(),
  done: Annotation<boolean>(),
})

/** Announces that it begins, lets the request leave, then blocks. */
export const spin = new StateGraph(Spin)
  .addNode('announce', async (state) => {
    if (state.tell) await fetch(state.tell)
    return {}
  })
  .addNode('spin', (state) => {
    const until = state.ms < 0 ? Infinity : Date.now() + state.ms
    while (Date.now() < until);
    return { done: true }
  })
  .addEdge(START, 'announce')
  .addEdge('announce', 'spin')
  .addEdge('spin', END)
  .compile()
