/** Graphs whose nodes hold the event loop, or only wait, for as long as their input says. */

import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const Work = Annotation.Root({
  /** Milliseconds of each node, in order. */
  ms: Annotation<readonly number[]>({ reducer: (_, last) => last, default: () => [] }),
  done: Annotation<number>({ reducer: (_, last) => last, default: () => 0 }),
  /** The line that each node adds to `file`. */
  name: Annotation<string>(),
  file: Annotation<string>(),
})

function note({ file, name, done }: typeof Work.State) {
  if (file) appendFileSync(file, `${name} ${done}\n`)
}

function hold(state: typeof Work.State) {
  note(state)
  const endMs = performance.now() + (state.ms[state.done] ?? 0)
  while (performance.now() < endMs);
  return { done: state.done + 1 }
}

async function wait(state: typeof Work.State) {
  note(state)
  await pause(state.ms[state.done] ?? 0)
  return { done: state.done + 1 }
}

const graphOf = (node: typeof hold | typeof wait) =>
  new StateGraph(Work)
    .addNode('node', node)
    .addEdge(START, 'node')
    .addConditionalEdges('node', ({ done, ms }) => done < ms.length ? 'node' : END)
    .compile()

/** Each node computes. */
export const compute = graphOf(hold)

/** Each node waits, as for a model. */
export const asking = graphOf(wait)
