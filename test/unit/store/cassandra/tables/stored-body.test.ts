/** Reading bodies of mutable rows. */

import { expect, it } from 'vitest'

import type { Row } from '../../../../../src/store/cassandra/driver/connection.ts'
import type { ChunkTable } from '../../../../../src/store/cassandra/log/chunk-table.ts'
import { StoredBodies } from '../../../../../src/store/cassandra/tables/stored-body.ts'

it('A row is missing if a replica has the row but no body yet.', async () => {
  const read = () => Promise.reject(new Error('nobody asks for it'))
  const bodies = new StoredBodies({ read, write: read, batch: read }, {} as ChunkTable)
  const row = { body: null, chunks: null, chunk_rank: null } as unknown as Row
  expect(await bodies.read({ table: 'run_row', key: [] }, row, read)).toBeUndefined()
})
