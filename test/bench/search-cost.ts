/** Search over many threads compared to a read by key, and how long their index takes to load. */

import type { ThreadQuery } from '../../src/search/index.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { progress } from './progress.ts'
import type { RawDriver } from './raw-driver.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'
import { openStoreHouse } from './store-house.ts'
import type { StoreHouse } from './store-house.ts'
import { channelOf, graphOf, putThreads, userOf } from './thread-rows.ts'
import type { Rounds } from './throughput.ts'

export interface SearchPlan {
  readonly threads: number
  readonly rounds: number
  /** Samples per side and round. */
  readonly samples: number
  readonly loads: number
}

type Side = 'read by key' | 'search'

export async function searchLines(place: CassandraKeyspace, raw: RawDriver,
  plan: SearchPlan): Promise<Line[]> {
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
    await requireHoldAll(house, plan.threads)
    progress('searches')
    await costs(house, raw, [...plain, ...sorted, ...broad], { ...plan, rounds: 1 })
    const { p50, p99 } = await costs(house, raw, plain, plan)
    const { p99: sortedP99 } = await costs(house, raw, sorted, plan)
    const { p99: broadP99 } = await costs(house, raw, broad, plan)
    const line = (name: string, rounds: Rounds): Line => ({
      measure: `metadata search over ${plan.threads} threads, ${name} over a read by key`,
      unit: 'times',
      figures: [figure(rounds, 'read by key', 'ms'), figure(rounds, 'search', 'ms')],
      ratio: spreadOf(ratios(rounds.get('search')!, rounds.get('read by key')!)),
    })
    const aim = { sign: '≤', value: 1 } as const
    return [
      { ...line('p50', p50), aim },
      { ...line('p99', p99), aim },
      line('sorted by their update, p99', sortedP99),
      line('two broad conditions, p99', broadP99),
      { measure: `loading the index of ${plan.threads} threads`, unit: 's', figures: [],
        ratio: spreadOf(seconds), aim: { sign: '≤', value: 5 } },
    ]
  } finally {
    await house.close()
  }
}

type Question = (number: number, threads: number) =>
  & Pick<ThreadQuery, 'metadata' | 'status'>
  & Partial<ThreadQuery>

/** One user's threads, a third of all, one in fifty, and three conditions. */
const plain: readonly Question[] = [
  (number, threads) => ({ metadata: { user: userAt(number, threads) } }),
  (number) => ({ metadata: { graph_id: graphOf(number) } }),
  (number) => ({ metadata: { channel: channelOf(number) } }),
  (number, threads) => ({ status: 'interrupted',
    metadata: { user: userAt(number, threads), graph_id: graphOf(number) } }),
]
/** The same, in an order for which there is no index of metadata. */
const sorted = plain.map((question): Question => (number, threads) => ({
  ...question(number, threads),
  sortBy: 'updated_at',
}))
/** Each condition holds for many threads, both together for few. */
const broad: readonly Question[] = [
  (number) => ({ status: 'interrupted', metadata: { channel: channelOf(number) } }),
]

/** The questions alternate. Newest first, which is the default order. */
function queryOf(questions: readonly Question[], number: number, threads: number): ThreadQuery {
  return { tenant: 'local', sortBy: 'created_at', sortOrder: 'desc', limit: 10, offset: 0,
    ...questions[number % questions.length]!(number, threads) }
}

function userAt(number: number, threads: number): string {
  return userOf(number * 7 % threads)
}

async function loadSeconds(house: StoreHouse): Promise<number> {
  const began = performance.now()
  await house.loadIndex()
  return (performance.now() - began) / 1_000
}

async function requireHoldAll({ index }: StoreHouse, count: number): Promise<void> {
  const { total: found } = await index.answer({ kind: 'thread_count', query: { tenant: 'local' } })
  if (found !== count) throw new Error(`the index holds ${found} of ${count} threads`)
}

/** Milliseconds of searches and reads, which alternate. */
async function costs(house: StoreHouse, raw: RawDriver, questions: readonly Question[],
  plan: SearchPlan) {
  const sides = () => new Map<Side, number[]>([['read by key', []], ['search', []]])
  const [p50, p99] = [sides(), sides()]
  for (let round = 0; round < plan.rounds; round += 1) {
    const times = sides()
    for (let number = 0; number < plan.samples; number += 1) {
      const began = performance.now()
      await house.index.answer(
        { kind: 'thread_search', query: queryOf(questions, number, plan.threads) },
      )
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
