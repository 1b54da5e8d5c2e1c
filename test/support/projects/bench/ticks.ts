/** A graph that streams the time at a steady rate, to measure how late it arrives. */

import { setTimeout as pause } from 'node:timers/promises'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

const Ticks = Annotation.Root({
  /** When the first tick is sent, by the clock of the machine. */
  beginAtMs: Annotation<number>(),
  everyMs: Annotation<number>(),
  count: Annotation<number>(),
})

async function tell({ beginAtMs, everyMs, count }: typeof Ticks.State,
  { writer, signal }: LangGraphRunnableConfig) {
  for (let number = 0; number < count; number += 1) {
    const early = beginAtMs + number * everyMs - Date.now()
    if (early > 0) await pause(early, undefined, { signal })
    writer?.({ number, atMs: Date.now() })
  }
  return {}
}

/** Streams `count` custom events, each with the time at which it was sent. */
export const ticks = new StateGraph(Ticks)
  .addNode('tell', tell)
  .addEdge(START, 'tell')
  .addEdge('tell', END)
  .compile()
