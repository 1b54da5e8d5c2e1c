/** A thread whose graph has one node that does effects. */

import { Annotation, START, StateGraph } from '@langchain/langgraph'

import type { EffectRule } from '../../../../src/graph/effect-rule.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { Ran, RunOptions } from '../../../support/graph-bench.ts'

const State = Annotation.Root({
  out: Annotation<unknown[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

/** A graph with this one node, whose results are the list `out`. */
export function graphOf(node: () => Promise<unknown>, retries = 1) {
  return new StateGraph(State)
    .addNode('acts', async () => ({ out: [await node()] }), {
      retryPolicy: { maxAttempts: retries, initialInterval: 1, jitter: false, logWarning: false },
    })
    .addEdge(START, 'acts').compile()
}

/** A thread of such a graph. */
export function threadOf(node: () => Promise<unknown>, rules: readonly EffectRule[], retries = 1) {
  const bench = new GraphBench(graphOf(node, retries))
  bench.effects = rules
  return {
    bench,
    start: (options: RunOptions = {}) => bench.run({ input: { out: [] }, ...options }),
    resume: (options: RunOptions = {}) => bench.run({ forget: true, ...options }),
    answer: (resume: unknown) => bench.run({ command: { resume }, forget: true }),
    /** The kinds of the notes in the log. */
    notes: () => bench.log.writes.flatMap(({ effect: noted }) => noted?.note?.$case ?? []),
  }
}

/** The values of the interrupts of a run. */
export function asked({ outcome }: Pick<Ran, 'outcome'>): unknown[] {
  return Object.values(JSON.parse(outcome.interrupts) as Record<string, { value: unknown }[]>)
    .flat().map(({ value }) => value)
}
