/** Cutting a log whose beginning other branches still need. */

import { expect, it } from 'vitest'

import { LogCutter } from '../../../../../src/store/cassandra/log/log-cutter.ts'
import { WriteTimestamp } from '../../../../../src/store/cassandra/log/write-timestamp.ts'

it('Nothing is removed if the end of the needed rows was not found.', async () => {
  const removed: string[] = []
  const connection = { keyspace: 'heddle', pages: async function*() {},
    write: async ({ cql }: { cql: string }) => void removed.push(cql) }
  // The newest bucket went between two reads, as if two members cut the same log at once.
  const reader = { newestBucket: async () => 2, end: async () => undefined }
  const cutter = new LogCutter(
    { connection, reader, chunks: {}, rank: new WriteTimestamp() } as never,
  )
  await expect(cutter.cut({ branchId: 'b', after: 2, epoch: 1 }))
    .rejects.toMatchObject({ code: 'unavailable' })
  expect(removed).toEqual([])
  await cutter.cut({ branchId: 'b', after: 0, epoch: 1 })
  expect(removed).toHaveLength(3)
})
