/** The store of spans in Cassandra under a clock of the machine that jumps ahead. */

import { expect, it } from 'vitest'

import type { SpanPlace } from '../../../../../src/platform/index.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import { virtualEnv } from '../../../../support/env.ts'

const [dayS, dayMs] = [86_400, 86_400_000]

it('keeps spans whose life changes while the clock is ahead', async () => {
  const env = virtualEnv()
  let aheadMs = 0
  const cassandra = new MemoryCassandra(env.nowMs)
  const store = new CassandraSpans(cassandra.connect(), { ...env,
    nowMs: () => env.nowMs() + aheadMs }, 'write')
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      env.advance(1_000)
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const startUs = env.nowMs() * 1_000
  const place: SpanPlace = { tenant: 'acme', project: uuidOf(1, 0), id: uuidOf(4, 1),
    trace: uuidOf(4, 1), startUs, traceStartUs: startUs }
  await store.write({ ...requestOf(place.tenant, [aPost(place, { arrivedUs: startUs })]),
    timeToLiveS: new Map([[place.project, 14 * dayS]]) })

  aheadMs = 500 * dayMs
  await store.changeLife(place.tenant, place.project, 400 * dayS)
  await pass(60)
  aheadMs = 0
  env.advance(20 * dayMs)
  expect((await store.heads([place])).length).toBe(1)
  await store.close()
})
