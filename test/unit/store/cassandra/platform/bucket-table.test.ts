/** Hours of projects that are written once in a while. */

import { expect, it } from 'vitest'

import type { SpanPlace } from '../../../../../src/platform/index.ts'
import type { Connection } from '../../../../../src/store/cassandra/driver/connection.ts'
import { BucketTable } from '../../../../../src/store/cassandra/platform/bucket-table.ts'
import { StatementBatches } from '../../../../../src/store/cassandra/platform/statement-batches.ts'
import { virtualEnv } from '../../../../support/env.ts'

it('An hour is written again when its spans live longer than those before.', async () => {
  const id = '018f0000-0000-7000-8000-000000000001'
  const place: SpanPlace = { tenant: 't', project: id, startUs: 1, id, trace: id, traceStartUs: 1 }
  const table = new BucketTable({ keyspace: 'k' } as Connection, virtualEnv())
  const lives: unknown[] = []
  const write = async (liveS: number) => {
    const batches = new StatementBatches()
    const written = table.add(batches, [place], () => liveS)
    await batches.write({ repeatableBatch: async (statements) => {
      lives.push(...statements.map(({ values }) => values[0]))
    } })
    written()
  }
  for (const liveS of [100, 100, 200, 200]) await write(liveS)
  expect(lives).toEqual([7_300, 7_400])
})
