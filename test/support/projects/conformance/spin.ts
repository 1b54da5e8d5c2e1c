/** A graph that keeps its thread of execution for itself, as bad user code does. */

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const Spin = Annotation.Root({
  /** How long to spin; below zero for ever. */
  ms: Annotation<number>(),
  /** Asked once, without waiting for the answer, when the spinning begins. */
  tell: Annotation<string>(),
  done: Annotation<boolean>(),
})

/** Tells that it begins, lets the request leave, then blocks. */
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
