/**
 * This server on Cassandra beside that of an earlier commit, each on a keyspace of one ring, and
 * beside this server on a data directory, in turns on the same machine.
 */

import { randomUUID } from 'node:crypto'

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { startServer } from '../support/server-process.ts'
import { earlierOrExit, quartiles } from './against.ts'
import type { CassandraBench } from './cassandra.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Bench, Bound, Line } from './report.ts'
import { Served } from './served.ts'
import { quantile, ratios } from './statistics.ts'
import { interleaved, measureRuns } from './throughput.ts'
import type { Rounds, RunsPlan } from './throughput.ts'

const plans: Readonly<Record<'full' | 'quick', RunsPlan>> = {
  full: { rounds: 12, alone: 60, together: 500, warmUp: 1_000, clients: 32 },
  quick: { rounds: 2, alone: 10, together: 60, warmUp: 20, clients: 32 },
}

/** Measures three servers of one member. Ends the process if the commit is not in the history. */
export async function benchCassandraAgainst(
  { quick, cassandra, commit }: CassandraBench & { readonly commit: string },
): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const earlier = earlierOrExit(commit)
  const places = [newKeyspace(cassandra), newKeyspace(cassandra)] as const
  const options = { project: 'bench', args: ['--member-host', '127.0.0.1'] }
  const servers = [
    await startServer({ ...options, cassandra: places[0], program: earlier.home }),
    await startServer({ ...options, cassandra: places[1] }),
    await startServer({ project: 'bench' }),
  ] as const
  const names = [commit, 'now', 'data directory'] as const
  const [before, now, disk] = servers.map(({ url }, at) => new Served(names[at]!, url)) as [
    Served,
    Served,
    Served,
  ]
  const line = (measure: string, rounds: Rounds, unit: 'ms' | '/s', aim?: Bound,
    [side, beside] = [now, before]): Line => ({
      measure,
      unit: 'times',
      figures: [figure(rounds, beside.name, unit), figure(rounds, side.name, unit)],
      ratio: quartiles(ratios(rounds.get(side.name)!, rounds.get(beside.name)!)),
      ...aim && { aim },
    })
  try {
    const { single, many, first } = await measureRuns([before, now, disk], plan)
    progress('states')
    const states = await statesOf([before, now], plan)
    const many32 = `runs per second, ${plan.clients} clients`
    return { title: `Benchmark on Cassandra beside ${commit}`, notes, file: '', lines: [
      line('run-wait, 1 client, p50', single, 'ms', { sign: '≤', value: 0.75 }),
      line(many32, many, '/s', { sign: '≥', value: 1.8 }),
      line('first event, 1 client, p50', first, 'ms', { sign: '≤', value: 1 }),
      line('state of a thread in memory, p50', states, 'ms', { sign: '≤', value: 0.3 }),
      line(`${many32}, beside the data directory`, many, '/s', { sign: '≥', value: 0.5 }, [now,
        disk]),
    ] }
  } finally {
    for (const served of [before, now, disk]) served.close()
    for (const server of servers) await server.close()
    for (const place of places) await dropKeyspace(place)
    earlier.remove()
  }
}

/** Median milliseconds of the state of a thread with three runs, which its owner has in memory. */
async function statesOf(targets: readonly Served[], { rounds, alone }: RunsPlan): Promise<Rounds> {
  const threads = new Map<string, string>()
  for (const target of targets) {
    const id = randomUUID()
    for (let run = 0; run < 3; run++) await target.wait(id, 'hello')
    threads.set(target.name, id)
  }
  return await interleaved(targets, rounds, async (target) => {
    const ms: number[] = []
    for (let n = 0; n < alone; n++) {
      ms.push((await target.ask('GET', `/threads/${threads.get(target.name)}/state`)).ms)
    }
    return quantile(ms, 0.5)
  })
}

const notes = [
  'Each line is the median of the ratios of all rounds, and their quartiles. In a round each',
  'server is measured once, one after the other; all share the machine with one node of',
  'Cassandra. Every run has a thread of its own.',
].join('\n')
