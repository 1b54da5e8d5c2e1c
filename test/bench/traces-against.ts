/** This server beside that of an earlier commit, in turns on the same machine: what traces cost. */

import { setTimeout as pause } from 'node:timers/promises'

import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { earlierOrExit, quartiles } from './against.ts'
import type { Comparison } from './against.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { median, ratios } from './statistics.ts'
import { bodiesOf, bytesOfTraces, sendAll, shapeOf } from './trace-sender.ts'

const plans = {
  full: { rounds: 30, bodies: 40, questions: 40, warmUp: 120 },
  quick: { rounds: 2, bodies: 4, questions: 5, warmUp: 2 },
}

const clients = 8
const project = 'ingest'

/** The figures of all rounds of one server. */
interface Rounds {
  readonly spansPerSecond: number[]
  readonly cpuUs: number[]
  readonly newestMs: number[]
}

/**
 * Measures both programs on data directories of their own, with the packages of today, without an
 * index of words. Ends the process if the commit is not in the history.
 */
export async function benchTracesAgainst({ commit, quick }: Comparison): Promise<Bench> {
  const earlier = earlierOrExit(commit)
  const args = ['--own-traces', 'off']
  const servers = [await startServer({ project: 'conformance', program: earlier.home, args }),
    await startServer({ project: 'conformance',
      args: [...args, '--traces-words', 'off'] })] as const
  const [before, now] = [new Served(commit, servers[0].url), new Served('now', servers[1].url)]
  try {
    const plan = quick ? plans.quick : plans.full
    const rounds = servers.map((): Rounds => ({ spansPerSecond: [], cpuUs: [], newestMs: [] }))
    const shape = shapeOf(project, 1_000)
    for (const server of servers) await sendAll(server, bodiesOf(shape, plan.warmUp, 0), clients)
    for (let round = 1; round <= plan.rounds; round++) {
      progress(`traces, round ${round}`)
      const bodies = [...bodiesOf(shape, plan.bodies, round * 10_000)]
      for (const [at, seen] of rounds.entries()) {
        const cost = await sendAll(servers[at]!, bodies, clients)
        seen.spansPerSecond.push(cost.spansPerSecond)
        seen.cpuUs.push(cost.cpuUs)
        seen.newestMs.push(await newestMs(at === 0 ? before : now, plan.questions))
      }
    }
    await pause(3_000)
    return { title: `Traces beside ${commit}`, lines: linesOf(rounds, servers), notes,
      file: 'RESULTS-platform.md' }
  } finally {
    for (const served of [before, now]) served.close()
    for (const server of servers) await server.close()
    earlier.remove()
  }
}

/** The median time of the question for the newest 100 spans. */
async function newestMs(served: Served, questions: number): Promise<number> {
  const { body } = await served.ask('GET', `/api/v1/sessions?name=${project}`)
  const [{ id }] = body as [{ id: string }]
  const select = ['id', 'name', 'run_type', 'start_time', 'end_time', 'status', 'total_tokens']
  const took: number[] = []
  for (let at = 0; at < questions; at++) {
    const answer = await served.ask('POST', '/api/v1/runs/query', { session: [id], limit: 100,
      select })
    took.push(answer.ms)
  }
  return median(took)
}

function linesOf([before, now]: readonly Rounds[], servers: readonly ServerProcess[]): Line[] {
  const line = (measure: string, unit: string, of: (rounds: Rounds) => readonly number[],
    sign: '≤' | '≥'): Line => ({ measure, unit: 'times',
      figures: [before!, now!].map((rounds) =>
        `${median(of(rounds)).toFixed(unit === 'ms' ? 2 : 0)} ${unit}`
      ), ratio: quartiles(ratios(of(now!), of(before!))), aim: { sign, value: 1 } })
  const bytes = servers.map(bytesOfTraces)
  const ratio = bytes[1]! / bytes[0]!
  return [
    line('spans taken in a second', 'spans/s', ({ spansPerSecond }) => spansPerSecond, '≥'),
    line('processor of a span', 'µs', ({ cpuUs }) => cpuUs, '≤'),
    line('newest 100, p50', 'ms', ({ newestMs }) => newestMs, '≤'),
    { measure: 'bytes at rest, the log included', unit: 'times',
      figures: bytes.map((each) => `${(each / 1e6).toFixed(1)} MB`),
      ratio: { median: ratio, low: ratio, high: ratio }, aim: { sign: '≤', value: 1 } },
  ]
}

const notes = [
  'Each line is the median of the ratios of all rounds, and their quartiles. In a round each',
  'server takes the same bodies and answers the same questions, one after the other.',
].join('\n')
