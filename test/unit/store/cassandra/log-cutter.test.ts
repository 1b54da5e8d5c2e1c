/** What is removed of a log that others still need the beginning of. */

import { expect, it } from 'vitest'

import { LogCutter } from '../../../../src/store/cassandra/log-cutter.ts'
import { Rank } from '../../../../src/store/cassandra/rank.ts'

it('is nothing where the rows that are needed were not seen', async () => {
  const removed: string[] = []
  const connection = { keyspace: 'heddle', pages: async function* () {},
    write: async ({ cql }: { cql: string }) => void removed.push(cql) }
  // Its newest buckets went between two looks at them: the same log is cut by two at once.
  const reader = { newestBucket: async () => 2, end: async () => undefined }
  const cutter = new LogCutter({ connection, reader, chunks: {}, rank: new Rank() } as never)
  await expect(cutter.cut({ branchId: 'b', after: 2, epoch: 1 }))
    .rejects.toMatchObject({ code: 'unavailable' })
  expect(removed).toEqual([])
  await cutter.cut({ branchId: 'b', after: 0, epoch: 1 })
  expect(removed).toHaveLength(3)
})
