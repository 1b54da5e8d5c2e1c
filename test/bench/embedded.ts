/** The benchmark on the embedded store: the served graph compared to the same in process. */

import { startServer } from '../support/server-process.ts'
import { burstLines, burstPlans } from './bursts.ts'
import { growthLines } from './growth-lines.ts'
import { InProcess } from './in-process.ts'
import { limitLines } from './limits.ts'
import { embeddedWeight } from './log-weight.ts'
import { figure } from './report.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { ratios, spreadOf } from './statistics.ts'
import type { Target } from './target.ts'
import { measureRuns } from './throughput.ts'
import type { RunsPlan } from './throughput.ts'

const plans = {
  full: { runs: { rounds: 9, alone: 300, together: 3_000, warmUp: 1_000, clients: 32 },
    growth: { young: 20, old: 1_000, rounds: 7, samples: 30 },
    limits: { rounds: 9, alone: 1_000, seldom: 30, together: 4_000, clients: 32 } },
  quick: { runs: { rounds: 2, alone: 30, together: 200, warmUp: 30, clients: 32 },
    growth: { young: 10, old: 80, rounds: 2, samples: 10 },
    limits: { rounds: 2, alone: 50, seldom: 2, together: 200, clients: 32 } },
}

export async function benchEmbedded(
  { peer: peerUrl, quick }: { readonly peer: string | undefined; readonly quick: boolean },
): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const server = await startServer({ project: 'conformance' })
  const heddle = new Served('heddle', server.url)
  const peer = peerUrl === undefined ? [] : [new Served('peer', peerUrl)]
  try {
    const lines = await runLines(heddle, peer, plan.runs)
    const weight = embeddedWeight(server.dataDir)
    lines.push(...await growthLines(heddle, weight, plan.growth))
    await weight.close()
    lines.push(...await limitLines(plan.limits))
    lines.push(...await burstLines(quick ? burstPlans.quick : burstPlans.full))
    return { title: 'Benchmark', lines, notes, file: 'RESULTS.md' }
  } finally {
    for (const served of [heddle, ...peer]) served.close()
    await server.close()
  }
}

/** Measures only the cost of limits. */
export async function benchLimits({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const lines = await limitLines((quick ? plans.quick : plans.full).limits)
  return { title: 'Benchmark of limits', lines, notes, file: 'RESULTS.md' }
}

async function runLines(heddle: Served, peers: readonly Served[], plan: RunsPlan): Promise<Line[]> {
  const inProcess = new InProcess()
  const targets: Target[] = [inProcess, heddle, ...peers]
  const { single, many, first } = await measureRuns(targets, plan)
  return [heddle, ...peers].flatMap(({ name }): Line[] => [
    { measure: `${name}: run-wait, 1 client, p50 over in process`, unit: 'times',
      figures: [figure(single, inProcess.name, 'ms'), figure(single, name, 'ms')],
      ratio: spreadOf(ratios(single.get(name)!, single.get(inProcess.name)!)),
      ...name === heddle.name &&
        { aim: { sign: '≤', value: 2 }, floor: { sign: '≤', value: 2.7 } } },
    { measure: `${name}: runs per second, ${plan.clients} clients, over in process`, unit: 'times',
      figures: [figure(many, inProcess.name, '/s'), figure(many, name, '/s')],
      ratio: spreadOf(ratios(many.get(name)!, many.get(inProcess.name)!)),
      ...name === heddle.name &&
        { aim: { sign: '≥', value: 0.7 }, floor: { sign: '≥', value: 0.45 } } },
    { measure: `${name}: first event, 1 client, p50`, unit: 'ms', figures: [],
      ratio: spreadOf(first.get(name)!),
      ...name === heddle.name && { aim: { sign: '≤', value: 1.5 } } },
  ])
}

const notes = [
  'Each line is the median of the rounds, and their range. In a round every side is measured',
  'once, one after the other. In process: the same graph with the official MemorySaver in the',
  'process of the benchmark, which is the client of the served ones too. Every run has a thread',
  'of its own; in the lines about turns a message has 500 characters. First event: from the',
  'request to the `metadata` event, which leaves when the run is on disk. Bytes are those of the',
  'log rows, snapshots included. Limited: a second server counts each request against a limit that',
  'is never reached; both are asked in turn. A short run beside others: from its request to its',
  'answer, once all of them are accepted. One after another: each awaited before the next.',
].join('\n')
