/** Reading bodies of mutable rows. */

import { expect, it } from 'vitest'

import type { ChunkTable } from '../../../../src/store/cassandra/chunk-table.ts'
import type { Row } from '../../../../src/store/cassandra/connection.ts'
import { StoredBodies } from '../../../../src/store/cassandra/stored-body.ts'

it('A row is missing if a replica has the row but no body yet.', async () => {
  const read = () => Promise.reject(new Error('nobody asks for it'))
  const bodies = new StoredBodies({ read, write: read }, {} as ChunkTable)
  const row = { body: null, chunks: null, chunk_rank: null } as unknown as Row
  expect(await bodies.read({ table: 'run_row', key: [] }, row, read)).toBeUndefined()
})
