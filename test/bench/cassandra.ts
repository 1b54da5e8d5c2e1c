/** The benchmark on Cassandra: the store compared to the raw driver, and the server on it. */

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { startServer } from '../support/server-process.ts'
import { appendLines } from './append-cost.ts'
import { chainLines } from './chain-cost.ts'
import { growthLines } from './growth-lines.ts'
import { InProcess } from './in-process.ts'
import { cassandraWeight } from './log-weight.ts'
import { RawDriver, rawKeyspaceOf } from './raw-driver.ts'
import { figure } from './report.ts'
import type { Bench, Line } from './report.ts'
import { searchLines } from './search-cost.ts'
import { Served } from './served.ts'
import { ratios, spreadOf } from './statistics.ts'
import { openStoreHouse } from './store-house.ts'
import { measureRuns } from './throughput.ts'
import type { RunsPlan } from './throughput.ts'

const plans = {
  full: {
    append: { rounds: 31, alone: 100, together: 1_500, clients: 32 },
    search: { threads: 100_000, rounds: 9, samples: 1_000, loads: 3 },
    chain: { rounds: 7, runs: 20 },
    runs: { rounds: 5, alone: 100, together: 500, warmUp: 300, clients: 32 },
    growth: { young: 20, old: 1_000, rounds: 5, samples: 20 },
  },
  quick: {
    append: { rounds: 2, alone: 30, together: 200, clients: 32 },
    search: { threads: 1_000, rounds: 2, samples: 50, loads: 2 },
    chain: { rounds: 2, runs: 3 },
    runs: { rounds: 2, alone: 10, together: 64, warmUp: 20, clients: 32 },
    growth: { young: 10, old: 80, rounds: 2, samples: 10 },
  },
}

type Plan = typeof plans.full

export interface CassandraBench {
  readonly quick: boolean
  readonly cassandra: CassandraForTests
  /** Whether it was started only for this benchmark. */
  readonly own: boolean
}

export async function benchCassandra({ quick, cassandra, own }: CassandraBench): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const lines = [...await storeLines(cassandra, plan), ...await servedLines(cassandra, plan)]
  return { title: 'Benchmark on Cassandra', lines, notes: notes(own), file: 'RESULTS-cassandra.md' }
}

/** Measures the ports of the store, in this process. */
async function storeLines(cassandra: CassandraForTests, plan: Plan): Promise<Line[]> {
  const place = newKeyspace(cassandra)
  const house = await openStoreHouse(place)
  const raw = await RawDriver.open(place)
  try {
    const appends = await appendLines(house, raw, plan.append)
    await house.close()
    return [...appends, ...await searchLines(place, raw, plan.search)]
  } finally {
    await raw.close()
    await dropKeyspace(place)
    await dropKeyspace({ ...place, keyspace: rawKeyspaceOf(place.keyspace) })
  }
}

/** Measures the server in a process of its own, compared to one on the embedded store. */
async function servedLines(cassandra: CassandraForTests, plan: Plan): Promise<Line[]> {
  const place: CassandraKeyspace = newKeyspace(cassandra)
  const embeddedServer = await startServer({ project: 'conformance' })
  const server = await startServer({ project: 'conformance', cassandra: place })
  const embedded = new Served('embedded', embeddedServer.url)
  const heddle = new Served('heddle', server.url)
  const weight = cassandraWeight(place)
  try {
    return [
      ...await chainLines({ heddle, beside: embedded, weight, plan: plan.chain }),
      ...await runLines(heddle, embedded, plan.runs),
      ...await growthLines(heddle, weight, plan.growth),
    ]
  } finally {
    await weight.close()
    for (const served of [heddle, embedded]) served.close()
    await Promise.all([server.close(), embeddedServer.close()])
    await dropKeyspace(place)
  }
}

/** For information: these have no aims on Cassandra. */
async function runLines(heddle: Served, embedded: Served, plan: RunsPlan): Promise<Line[]> {
  const targets = [new InProcess(), embedded, heddle]
  const { single, many, first } = await measureRuns(targets, plan)
  const all = (rounds: typeof single, unit: 'ms' | '/s') =>
    targets.map(({ name }) => figure(rounds, name, unit))
  const ended = (rounds: typeof single) =>
    spreadOf(ratios(rounds.get(heddle.name)!, rounds.get(embedded.name)!))
  const { name } = heddle
  return [
    { measure: `${name}: run-wait, 1 client, p50 over embedded`, unit: 'times',
      figures: all(single, 'ms'), ratio: ended(single) },
    { measure: `${name}: runs per second, ${plan.clients} clients, over embedded`, unit: 'times',
      figures: all(many, '/s'), ratio: ended(many) },
    { measure: `${name}: first event, 1 client, p50`, unit: 'ms', figures: [],
      ratio: spreadOf(first.get(name)!) },
  ]
}

function notes(own: boolean): string {
  return [
    `${whereOf(own)}, the benchmark and what it`,
    'measures share its cores. Each line is the median of the rounds, and their range; a round',
    'measures every side, one after the other. Raw: the driver alone, prepared statements at',
    'LOCAL_QUORUM, on a table with the key of the log. An append is a row of 1 KB that states a',
    'checkpoint, through the port of the log and the gate of a real session: its raw twin is a',
    'write of the same body and, for one client, a read of the same session. A search asks the',
    'port of the index for ten threads with their metadata, without `values`; a read by key is',
    'that of a session. Embedded: the same server on its embedded store; in process: the graph',
    'with the official MemorySaver. Every run has a thread of its own; in the lines about turns a',
    'message has 500 characters. Bytes are those of the rows of the log, snapshots and chunks',
    'included.',
  ].join('\n')
}

/** The beginning of the notes. */
export function whereOf(own: boolean): string {
  return own
    ? '3 nodes of Cassandra on this machine, three replicas, each write on disk'
    : 'A Cassandra that was there, which others may use'
}
