/** Search over many threads beside a read by key, and how long their index takes to load. */

import { randomUUID } from 'node:crypto'
import { systemEnv } from '../../cluster/index.ts'
import { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { ThreadQuery } from '../../src/records/index.ts'
import { ChunkTable } from '../../src/store/cassandra/chunk-table.ts'
import { Connection } from '../../src/store/cassandra/connection.ts'
import type { Statement } from '../../src/store/cassandra/connection.ts'
import { inFlight } from '../../src/store/cassandra/in-flight.ts'
import { OwnedRowTable } from '../../src/store/cassandra/owned-row-table.ts'
import { Rank } from '../../src/store/cassandra/rank.ts'
import { readSettings } from '../../src/store/cassandra/setting-table.ts'
import { StoredBodies } from '../../src/store/cassandra/stored-body.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { aThread } from '../contract/rows.ts'
import { progress } from './progress.ts'
import type { RawDriver } from './raw-driver.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'
import type { Rounds } from './throughput.ts'
import { openStoreHouse } from './store-house.ts'
import type { StoreHouse } from './store-house.ts'

export interface SearchPlan {
  readonly threads: number
  readonly rounds: number
  /** Of each side in each round. */
  readonly samples: number
  readonly loads: number
}

type Side = 'read by key' | 'search'

/** Each user has so many threads. */
const threadsOfUser = 20
const graphs = ['chat', 'research', 'support']

export async function searchLines(place: CassandraKeyspace, raw: RawDriver, plan: SearchPlan):
  Promise<Line[]> {
  progress(`${plan.threads} threads`)
  await putThreads(place, plan.threads)
  progress('loading their index')
  const seconds: number[] = []
  for (let load = 1; load < plan.loads; load += 1) {
    const house = await openStoreHouse(place)
    seconds.push(await loadSeconds(house))
    await house.close()
  }
  const house = await openStoreHouse(place)
  try {
    seconds.push(await loadSeconds(house))
    await mustHoldAll(house, plan.threads)
    progress('searches')
    await costs(house, raw, [...plain, ...sorted, ...broad], { ...plan, rounds: 1 })
    const { p50, p99 } = await costs(house, raw, plain, plan)
    const { p99: sortedP99 } = await costs(house, raw, sorted, plan)
    const { p99: broadP99 } = await costs(house, raw, broad, plan)
    const line = (name: string, rounds: Rounds): Line => ({
      measure: `metadata search over ${plan.threads} threads, ${name} over a read by key`,
      unit: 'times', figures: [figure(rounds, 'read by key', 'ms'), figure(rounds, 'search', 'ms')],
      ratio: spreadOf(ratios(rounds.get('search')!, rounds.get('read by key')!)),
    })
    const aim = { sign: '≤', value: 1 } as const
    return [
      { ...line('p50', p50), aim }, { ...line('p99', p99), aim },
      line('sorted by their update, p99', sortedP99),
      line('two broad conditions, p99', broadP99),
      { measure: `loading the index of ${plan.threads} threads`, unit: 's', figures: [],
        ratio: spreadOf(seconds), aim: { sign: '≤', value: 5 } },
    ]
  } finally {
    await house.close()
  }
}

/** Past the log, and many rows of a partition at once: it is reading them that is measured. */
async function putThreads(place: CassandraKeyspace, count: number): Promise<void> {
  const { contactPoints, dataCenter, keyspace } = place
  const connection = await Connection.open({
    env: systemEnv({ level: 'silent' }), contactPoints, localDataCenter: dataCenter, keyspace,
  })
  const partitions = new Map<string, Statement[]>()
  const gathered = {
    read: (statement: Statement) => connection.read(statement),
    write: async (statement: Statement) => {
      const [shard, bucket] = statement.values
      const partition = `${String(shard)} ${String(bucket)}`
      partitions.set(partition, [...partitions.get(partition) ?? [], statement])
    },
  }
  const bodies = new StoredBodies(gathered, new ChunkTable(connection))
  const settings = await readSettings(connection, systemEnv({ level: 'silent' }))
  const table = new OwnedRowTable({ connection, bodies, settings, kind: 'thread' })
  const rank = new Rank()
  for (let number = 0; number < count; number += 1) {
    const row = threadOf(number)
    const body = ThreadRow.encode(row).finish()
    await table.put({ tenant: row.tenant, id: row.threadId, body, rank: rank.next(1) })
  }
  await inFlight(8, partitions.values(), async (statements) => {
    for (let at = 0; at < statements.length; at += rowsInBatch) {
      await connection.batch(statements.slice(at, at + rowsInBatch))
    }
  })
  await connection.close()
}

const rowsInBatch = 40

function threadOf(number: number): ThreadRow {
  const createdAtMs = 1_700_000_000_000 + number * 1_000
  const metadata = { user: userOf(number), graph_id: graphOf(number), channel: channelOf(number) }
  return aThread({
    createdAtMs, updatedAtMs: createdAtMs, stateUpdatedAtMs: createdAtMs, epoch: 1, seq: 4,
    status: number % 10 === 0 ? 'interrupted' : 'idle', metadataJson: JSON.stringify(metadata),
    head: { id: randomUUID(), seq: 4, base: 1 }, stepSeq: 4,
  })
}

type Question = (number: number, threads: number) =>
  Pick<ThreadQuery, 'metadata' | 'status'> & Partial<ThreadQuery>

/** One user's threads, a third of all, one in fifty, and three conditions. */
const plain: readonly Question[] = [
  (number, threads) => ({ metadata: { user: userAt(number, threads) } }),
  (number) => ({ metadata: { graph_id: graphOf(number) } }),
  (number) => ({ metadata: { channel: channelOf(number) } }),
  (number, threads) => ({ status: 'interrupted',
    metadata: { user: userAt(number, threads), graph_id: graphOf(number) } }),
]
/** In an order for which there is no index of metadata. */
const sorted = plain.map((question): Question => (number, threads) =>
  ({ ...question(number, threads), sortBy: 'updated_at' }))
/** Each of them holds for many threads, both for few. */
const broad: readonly Question[] = [
  (number) => ({ status: 'interrupted', metadata: { channel: channelOf(number) } }),
]

/** They take turns. Newest first, as where a client asks for no order. */
function queryOf(questions: readonly Question[], number: number, threads: number): ThreadQuery {
  return { tenant: 'local', sortBy: 'created_at', sortOrder: 'desc', limit: 10, offset: 0,
    ...questions[number % questions.length]!(number, threads) }
}

function userAt(number: number, threads: number): string {
  return userOf(number * 7 % threads)
}

function graphOf(number: number): string {
  return graphs[number % graphs.length]!
}

function channelOf(number: number): string {
  return `channel ${number % 50}`
}

function userOf(number: number): string {
  return `user ${Math.floor(number / threadsOfUser)}`
}

async function loadSeconds(house: StoreHouse): Promise<number> {
  const began = performance.now()
  await house.loadIndex()
  return (performance.now() - began) / 1_000
}

async function mustHoldAll({ index }: StoreHouse, count: number): Promise<void> {
  const { total: found } =
    await index.answer({ kind: 'thread_count', query: { tenant: 'local' } })
  if (found !== count) throw new Error(`the index holds ${found} of ${count} threads`)
}

/** Milliseconds; a search, a read, a search, a read. */
async function costs(house: StoreHouse, raw: RawDriver, questions: readonly Question[],
  plan: SearchPlan) {
  const sides = () => new Map<Side, number[]>([['read by key', []], ['search', []]])
  const [p50, p99] = [sides(), sides()]
  for (let round = 0; round < plan.rounds; round += 1) {
    const times = sides()
    for (let number = 0; number < plan.samples; number += 1) {
      const began = performance.now()
      await house.index.answer(
        { kind: 'thread_search', query: queryOf(questions, number, plan.threads) })
      const searched = performance.now()
      await raw.readSession(house.session)
      times.get('search')!.push(searched - began)
      times.get('read by key')!.push(performance.now() - searched)
    }
    for (const [side, ms] of times) {
      p50.get(side)!.push(quantile(ms, 0.5))
      p99.get(side)!.push(quantile(ms, 0.99))
    }
  }
  return { p50, p99 }
}
