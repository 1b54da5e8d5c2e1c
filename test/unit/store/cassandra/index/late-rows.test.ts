/** Rows that are put while the rows of their shard are written to the file of the local index. */

import { expect, it } from 'vitest'

import type { OwnedRowTable } from '../../../../../src/store/cassandra/index/owned-row-table.ts'
import { LocalIndex } from '../../../../../src/store/cassandra/index/local-index.ts'
import { aThread } from '../../../../contract/rows.ts'
import { hurriedEnv } from '../../../../support/hurried-env.ts'
import { openInlineScratch } from '../../../../support/inline-scratch.ts'

const emptyTable = { shardOf: () => 0, bodyOf: async () => undefined,
  bodiesOf: async function*() {} } as unknown as OwnedRowTable

it('finds a row that was put while its shard was written', async () => {
  const env = hurriedEnv()
  const scratch = openInlineScratch(env, 1)
  const row = aThread({ threadId: 'late' })
  const index: LocalIndex = new LocalIndex({
    env,
    tables: { thread: emptyTable, assistant: emptyTable, cron: emptyTable, item: emptyTable },
    store: { ...scratch, load: async (shard, rows) => {
      await index.put([{ table: 'thread', row }])
      await scratch.load(shard, rows)
    } },
  })
  await index.load(0)
  expect((await index.threads.get(row.tenant, 'late'))?.threadId).toBe('late')
})
