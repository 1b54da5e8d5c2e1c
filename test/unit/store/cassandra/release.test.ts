/** What a store forgets when a shard moves to another member. */

import { expect, it } from 'vitest'

import { LocalIndex } from '../../../../src/store/cassandra/index/local-index.ts'
import { RowCache } from '../../../../src/store/cassandra/log/row-cache.ts'
import { storeInKeyspace } from '../../../../src/store/cassandra/store.ts'
import { aBranch, aRow } from '../../../contract/rows.ts'
import { SimulatedCassandra } from '../../../simulation/cassandra.ts'
import { simulatedConnection } from '../../../simulation/driver.ts'
import { Process } from '../../../simulation/process.ts'
import { World } from '../../../simulation/world.ts'
import { openInlineScratch } from '../../../support/inline-scratch.ts'
import { openCheck } from '../../../support/open-check.ts'

it('forgets the rows of logs when a shard is given back', async () => {
  const world = new World(1)
  const process = new Process(world, 'm')
  const { env } = process
  const cassandra = new SimulatedCassandra(world, { readRepair: true, fenceOnQuorum: true })
  const cache = new RowCache(1_000_000)
  const store = await storeInKeyspace({ env, cache, former: undefined, commit: 'validate',
    connection: simulatedConnection(process, cassandra),
    settings: { shards: 1, buckets: 1, secret: '' },
    openIndex: async (tables) =>
      new LocalIndex({ store: openInlineScratch(env, 1), tables, env }) })
  const { log } = store.serve({ check: openCheck,
    threads: { search: async () => ({ rows: [], total: 0 }) } })
  let isWritten = false
  void log.append([aRow({ branch: aBranch(), seq: 1, epoch: 1, prevEpoch: 0 })], []).then(() => {
    isWritten = true
  })
  await world.run(() => isWritten, 10_000)
  expect([isWritten, cache.stats.bytes > 0]).toEqual([true, true])
  store.release(0)
  expect(cache.stats.bytes).toBe(0)
})
