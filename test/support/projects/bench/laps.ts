/** A graph of equally long supersteps, each of which names the process that executed it. */

import { setTimeout as pause } from 'node:timers/promises'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

const Laps = Annotation.Root({
  laps: Annotation<number>(),
  pauseMs: Annotation<number>(),
  number: Annotation<number>({ reducer: (_, last) => last, default: () => 0 }),
  pid: Annotation<number>(),
})

async function run({ number, pauseMs }: typeof Laps.State, { signal }: LangGraphRunnableConfig) {
  await pause(pauseMs, undefined, { signal })
  return { number: number + 1, pid: process.pid }
}

/** Runs `laps` supersteps of `pauseMs` each. */
export const laps = new StateGraph(Laps)
  .addNode('lap', run)
  .addEdge(START, 'lap')
  .addConditionalEdges('lap', ({ number, laps: all }) => number < all ? 'lap' : END)
  .compile()
