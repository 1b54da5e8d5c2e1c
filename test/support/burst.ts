/** A burst of runs whose nodes compute, of one caller, beside one run of somebody else. */

import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { clientOf } from './server.ts'

/** Who sends runs, and where to. */
export interface Sender {
  readonly url: string
  readonly headers?: Record<string, string>
}

/** What became of a burst. */
export interface BurstSeen {
  /** From the first request to the last end. */
  readonly ms: number
  /** Runs that ended with the result of their last node. */
  readonly ended: number
  /** Times that a node began. */
  readonly begun: number
  /** Different nodes that began. */
  readonly nodes: number
  /** Milliseconds that the run of the other caller took, from its request to its answer. */
  readonly besideMs: number
  /** Runs of the burst that ended in that time. */
  readonly endedBeside: number
}

const graph = 'compute'
let bursts = 0

/** Milliseconds of a run of one node that somebody waits for, from the request to the answer. */
export async function waitFor(sender: Sender, ms: number): Promise<number> {
  const began = performance.now()
  const { runs } = clientOf(sender.url, sender.headers)
  await runs.wait(null, graph, { input: { ms: [ms] }, raiseError: true })
  return performance.now() - began
}

/**
 * Sends a background run for each list of lengths of nodes, spread over the senders, and one run of
 * `beside` once all are accepted. Resolves when all have ended.
 */
export async function burstOf(lengths: readonly (readonly number[])[], senders: readonly Sender[],
  beside: Sender): Promise<BurstSeen> {
  const file = join(tmpdir(), `heddle-burst-${process.pid}-${++bursts}`)
  const began = performance.now()
  const accepted = await Promise.all(lengths.map(async (ms, index) => {
    const { url, headers } = senders[index % senders.length]!
    const { runs } = clientOf(url, headers)
    const input = { ms, name: `${index}`, file }
    const { run_id, thread_id } = await runs.create(null, graph, { input,
      onCompletion: 'keep' as 'complete' })
    return { runs, run_id, thread_id, nodes: ms.length }
  }))
  let over = 0
  let ended = 0
  const all = accepted.map(async ({ runs, run_id, thread_id, nodes }) => {
    const state = await runs.join(thread_id, run_id) as { readonly done?: number }
    over += 1
    if (state.done === nodes) ended += 1
  })
  const overBefore = over
  const besideMs = await waitFor(beside, 5)
  const endedBeside = over - overBefore
  await Promise.all(all)
  const begun = readFileSync(file, 'utf8').trim().split('\n')
  rmSync(file)
  return { ms: performance.now() - began, ended, begun: begun.length, nodes: new Set(begun).size,
    besideMs, endedBeside }
}

/** Workers that a server has lost since it started. */
export async function workersLost(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^heddle_workers_lost_total (\d+)$/m.exec(text)?.[1])
}
