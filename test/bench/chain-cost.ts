/** What a superstep costs in a graph of ten nodes, and how many rows of the log it takes. */

import { randomUUID } from 'node:crypto'
import type { LogWeight } from './log-weight.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import type { Served } from './served.ts'
import { median, ratios, spreadOf } from './statistics.ts'

export interface ChainPlan {
  readonly rounds: number
  /** Runs per side and round. */
  readonly runs: number
}

const [long, short] = [{ graph: 'chain', nodes: 10 }, { graph: 'steps', nodes: 3 }]

/** `heddle` is measured, and compared to `beside`. */
export async function chainLines(
  { heddle, beside, weight, plan }: { readonly heddle: Served; readonly beside: Served;
    readonly weight: LogWeight; readonly plan: ChainPlan },
): Promise<Line[]> {
  progress(`runs of ${long.nodes} nodes`)
  const times = new Map([beside, heddle].map(({ name }) => [name, [] as number[]]))
  for (let round = -1; round < plan.rounds; round += 1) {
    for (const served of [beside, heddle]) {
      const ms = await stepMs(served, plan.runs)
      if (round >= 0) times.get(served.name)!.push(ms)
    }
  }
  const rows = await rowsOfStep(heddle, weight)
  return [
    { measure: `${heddle.name}: a run of ${long.nodes} nodes, by ten, p50 over ${beside.name}`,
      unit: 'times', figures: [figure(times, beside.name, 'ms'), figure(times, heddle.name, 'ms')],
      ratio: spreadOf(ratios(times.get(heddle.name)!, times.get(beside.name)!)) },
    { measure: `${heddle.name}: rows of the log for each superstep, each awaited`, unit: 'rows',
      figures: [], ratio: spreadOf([rows]), aim: { sign: '≤', value: 1 } },
  ]
}

/** The time of a run divided by its number of nodes. */
async function stepMs(served: Served, runs: number): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run += 1) times.push(await runMs(served, long.graph, 'async'))
  return median(times) / long.nodes
}

/** The additional rows of a longer run, per additional node. */
async function rowsOfStep(served: Served, weight: LogWeight): Promise<number> {
  const rowsOf = async (graph: string) => {
    const { rows: before } = await weight.weigh()
    await runMs(served, graph, 'sync')
    return (await weight.weigh()).rows - before
  }
  return (await rowsOf(long.graph) - await rowsOf(short.graph)) / (long.nodes - short.nodes)
}

async function runMs(served: Served, graph: string, durability: 'async' | 'sync'): Promise<number> {
  const { ms } = await served.ask('POST', `/threads/${randomUUID()}/runs/wait`, {
    assistant_id: graph,
    input: { topic: 'cats' },
    durability,
    if_not_exists: 'create',
  })
  return ms
}
