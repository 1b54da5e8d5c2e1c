/** A search over the states of many threads: it blocks neither the event loop nor the memory. */

import { expect, it } from 'vitest'

import type { Router } from '../../../../cluster/index.ts'
import { ReadQuota } from '../../../../src/limits/read-quota.ts'
import { createThreadClient } from '../../../../src/thread/index.ts'
import { aThread } from '../../../contract/rows.ts'
import { virtualEnv } from '../../../support/env.ts'

const query = { tenant: 't', sortBy: 'created_at', sortOrder: 'asc', offset: 0, limit: 1 } as const

/** Searches `count` threads: how many were read at a time, and how often the loop had a turn. */
async function searched(count: number, length: number) {
  const rows = Array.from({ length: count }, (_, n) => aThread({ threadId: `${n}` }))
  const values = JSON.stringify({ n: 1, long: 'x'.repeat(length) })
  const together: number[] = []
  let underWay = 0
  const ask = async () => {
    together.push(++underWay)
    await new Promise((nextTurn) => setImmediate(nextTurn))
    underWay--
    return { row: rows[0], values }
  }
  const client = createThreadClient({
    router: { ask } as unknown as Router,
    env: virtualEnv(),
    newThreadId: () => 'new',
    reads: new ReadQuota(virtualEnv()),
    threads: { search: async () => ({ rows, total: count }), count: async () => count },
  })
  let turns = 0
  let ended = false
  const nextTurn = () =>
    void setImmediate(() => {
      turns++
      if (!ended) nextTurn()
    })
  nextTurn()
  const { total } = await client.search({ ...query, values: { n: 1 } }, () => {})
  ended = true
  return { total, turns, together }
}

it('Long states are read one after the other, each in a turn of its own.', async () => {
  const { total, turns, together } = await searched(20, 5_000_000)
  expect(total).toBe(20)
  expect(together).toEqual([1, 2, 3, 4, ...Array(16).fill(1)])
  expect(turns).toBeGreaterThan(30)
})

it('Short states are read and compared many at a time.', async () => {
  const { total, turns, together } = await searched(200, 10)
  expect([total, Math.max(...together)]).toEqual([200, 16])
  expect(turns).toBeLessThan(100)
})
