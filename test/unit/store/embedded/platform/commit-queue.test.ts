/** Changes that share a commit: as many as it has time for, and short ones wait for no long one. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { CommitQueue } from '../../../../../src/store/embedded/platform/commit-queue.ts'
import { HourRows } from '../../../../../src/store/embedded/span-rows/hour-rows.ts'
import { traceSchema } from '../../../../../src/store/embedded/platform/schema.ts'
import { TenantUse } from '../../../../../src/store/embedded/span-rows/tenant-use.ts'
import { virtualEnv } from '../../../../support/env.ts'

/** Weight of a long change, and milliseconds that a weight of 1 takes. */
const [long, pace] = [250, 0.05]

let database: Database
let queue: CommitQueue
let nowMs: number
/** The keys of changes, a list for each commit. */
let commits: string[][]

beforeEach(() => {
  nowMs = 0
  commits = []
  database = new Database(':memory:', traceSchema)
  const { transaction } = database
  vi.spyOn(database, 'transaction').mockImplementation((work, wait) => {
    commits.push([])
    return transaction.call(database, work, wait) as never
  })
  const env = { ...virtualEnv(), monotonicMs: () => nowMs }
  queue = new CommitQueue({ database, hours: new HourRows(database), use: new TenantUse(database),
    env })
})

afterEach(() => {
  queue.close()
  database.close()
})

function change(key: string, weight: number): Promise<void> {
  return queue.run(key, weight, () => {
    commits.at(-1)!.push(key)
    nowMs += (weight + 5) * pace
  })
}

it('Short changes share a commit, and wait for no long one that comes behind them.', async () => {
  await change('long', long)
  commits = []
  await Promise.all([...Array.from({ length: 5 }, () => change('short', 1)), change('long', long),
    change('long', long)])
  expect(commits).toEqual([['short', 'short', 'short', 'short', 'short'], ['long'], ['long']])
})

it('A commit begins nothing for which it has no time left.', async () => {
  await Promise.all(Array.from({ length: 6 }, () => change('some', 120)))
  // The pace was not known before the first of them.
  expect(commits.map((keys) => keys.length)).toEqual([3, 3])
  commits = []
  await Promise.all(Array.from({ length: 100 }, () => change('short', 1)))
  expect(Math.max(...commits.map((keys) => keys.length)) * 6 * pace).toBeLessThanOrEqual(20)
})

it('Changes of a tenant keep their order when one of them waits for the next commit.', async () => {
  const order: number[] = []
  await Promise.all(Array.from({ length: 12 }, async (_, n) => {
    await change('some', n % 4 === 0 ? long : 1)
    order.push(n)
  }))
  expect(order).toEqual(Array.from({ length: 12 }, (_, n) => n))
})
