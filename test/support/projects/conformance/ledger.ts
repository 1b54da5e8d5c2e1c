/** A graph that writes down every step it executes, to be counted after a crash. */

import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

const Ledger = Annotation.Root({
  /** A file that outlives the process. */
  file: Annotation<string>(),
  /** Names the run in the file. */
  tag: Annotation<string>(),
  steps: Annotation<number>(),
  pauseMs: Annotation<number>(),
  done: Annotation<number[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
})

type State = typeof Ledger.State

async function step(state: State, config: LangGraphRunnableConfig) {
  const number = state.done.length + 1
  appendFileSync(state.file, `${state.tag} ${number}\n`)
  await pause(state.pauseMs, undefined, { signal: config.signal })
  return { done: [number] }
}

/** Executes `steps` supersteps, one line in the file for each. */
export const ledger = new StateGraph(Ledger)
  .addNode('step', step)
  .addEdge(START, 'step')
  .addConditionalEdges('step', (state) => state.done.length < state.steps ? 'step' : END)
  .compile()
