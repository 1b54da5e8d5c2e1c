/** A burst of runs whose nodes compute: the run beside it, and how much of the loops it uses. */

import { burstOf, waitFor, workersLost } from '../support/burst.ts'
import type { Sender } from '../support/burst.ts'
import { startServer } from '../support/server-process.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { spreadOf } from './statistics.ts'

/** How much is measured. */
export interface BurstPlan {
  readonly rounds: number
  readonly runs: number
}

/** What `--bursts` measures, and what the benchmark does. */
export const burstPlans = { full: { rounds: 3, runs: 200 }, quick: { rounds: 1, runs: 12 } }

const nodeMs = 150
const args = ['--workers', '2'] as const

/** Measures bursts on one server of their own. */
export async function burstLines(plan: BurstPlan): Promise<Line[]> {
  const server = await startServer({ project: 'computing', args })
  try {
    return await burstLinesOf('heddle', [server.url], plan)
  } finally {
    await server.close()
  }
}

/** Measures bursts through front doors of a server or of several members. */
export async function burstLinesOf(name: string, urls: readonly string[],
  { rounds, runs }: BurstPlan): Promise<Line[]> {
  progress('bursts')
  const senders = urls.map((url): Sender => ({ url }))
  const beside: number[] = []
  const throughput: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const alone = await Promise.all(senders.map((sender) => waitFor(sender, nodeMs)))
    const seen = await burstOf(Array.from({ length: runs }, () => [nodeMs]), senders, senders[0]!)
    if (seen.ended !== runs || seen.begun !== runs) throw new Error(`a burst: ${seen.ended} ended`)
    beside.push(seen.besideMs / nodeMs)
    throughput.push(runs * Math.min(...alone) / seen.ms)
  }
  const lost = (await Promise.all(urls.map(workersLost))).reduce((sum, count) => sum + count, 0)
  const burst = `${runs} background runs of ${nodeMs} ms`
  return [
    { measure: `${name}: a short run beside ${burst}, over one node`, unit: 'times',
      figures: [`workers lost ${lost}`], ratio: spreadOf(beside), aim: { sign: '≤', value: 2 },
      floor: { sign: '≤', value: 4 } },
    { measure: `${name}: ${burst}, throughput over one after another`, unit: 'times', figures: [],
      ratio: spreadOf(throughput), aim: { sign: '≥', value: 0.9 } },
  ]
}

/** Measures only bursts. */
export async function benchBursts({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const lines = await burstLines(quick ? burstPlans.quick : burstPlans.full)
  return { title: 'Benchmark of bursts', lines, notes: '', file: 'RESULTS.md' }
}
