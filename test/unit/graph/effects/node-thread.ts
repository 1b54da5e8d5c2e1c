/** A thread whose graph has one node that does effects. */

import { Annotation, START, StateGraph } from '@langchain/langgraph'

import type { CallEnd } from '../../../../src/graph/calls/call.ts'
import { callScope } from '../../../../src/graph/calls/call-scope.ts'
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

/** An HTTP call of a node, behind a door that is simulated. */
export interface NodeCall {
  readonly url: string
  readonly body: unknown
  /** Returns the status and the body of the response, or throws if there is none. */
  readonly receive: (key: string | undefined) => Promise<readonly [number, string]>
}

/** Makes the call. Throws if the gate refuses it, and for a status of 400 and above. */
export async function post({ url, body, receive }: NodeCall): Promise<string> {
  const { gate, site } = callScope()!
  const bytes = Buffer.from(JSON.stringify(body))
  const decision = await gate.decide({ id: 1, client: 'fetch', method: 'POST', url, headers: [],
    site, body: { length: bytes.length, read: async () => bytes } })
  if (decision.kind === 'hold') return await new Promise<never>(() => {})
  if (decision.kind === 'fail') throw decision.error
  if (decision.kind === 'answer') {
    return Buffer.concat([...decision.answer.body as Iterable<Uint8Array>]).toString()
  }
  const { watcher } = decision
  const end = async (how: CallEnd) => void await watcher?.ended?.(how)
  try {
    const [status, text] = await receive(decision.headers?.['idempotency-key'] ?? undefined)
    watcher?.head?.({ status, statusText: '', headers: [] })
    watcher?.chunk?.(Buffer.from(text))
    await end({ kind: 'done' })
    if (status >= 400) throw new Error(`status ${status}`)
    return text
  } catch (error) {
    await end({ kind: 'failed', error: error as Error, mayHaveLeft: true })
    throw error
  }
}
