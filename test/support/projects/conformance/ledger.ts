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

const Diary = Annotation.Root({
  /** A file that outlives the process. */
  file: Annotation<string>(),
  thread: Annotation<string>(),
  /** Names the run in its lines. */
  word: Annotation<string>(),
  steps: Annotation<number>(),
  pauseMs: Annotation<number>(),
  lines: Annotation<string[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
})

const written = ({ word, lines }: typeof Diary.State) =>
  lines.filter((line) => line.startsWith(`${word} `)).length

async function write(state: typeof Diary.State, config: LangGraphRunnableConfig) {
  const line = `${state.word} ${written(state) + 1}`
  appendFileSync(state.file, `${state.thread} ${line} ${process.pid} ${Date.now()}\n`)
  await pause(state.pauseMs, undefined, { signal: config.signal })
  return { lines: [line] }
}

/** Each of `steps` supersteps adds a line to the thread, and its process and time to the file. */
export const diary = new StateGraph(Diary)
  .addNode('write', write)
  .addEdge(START, 'write')
  .addConditionalEdges('write', (state) => written(state) < state.steps ? 'write' : END)
  .compile()
