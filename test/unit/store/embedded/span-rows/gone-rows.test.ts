/** Notes of removed spans: which stay when a tenant has too many. */

import { expect, it } from 'vitest'

import { bytesOfUuid } from '../../../../../src/platform/index.ts'
import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { traceSchema } from '../../../../../src/store/embedded/platform/schema.ts'
import { GoneRows } from '../../../../../src/store/embedded/span-rows/gone-rows.ts'
import { uuidOf } from '../../../../contract/span-histories.ts'

const [quiet, busy] = [1, 2] as const

it('evicts the oldest notes of the tenant that has too many, and none of another', () => {
  const database = new Database(':memory:', traceSchema)
  const rows = new GoneRows(database, 10)
  const note = (tenant: number, index: number) =>
    rows.noteId(tenant, bytesOfUuid(uuidOf(4, index)), index)
  note(quiet, 1)
  for (let index = 1; index <= 25; index++) note(busy, index)
  note(quiet, 2)
  const kept = (tenant: number) =>
    Array.from({ length: 25 }, (_, index) => index + 1)
      .filter((index) => rows.hasId(tenant, uuidOf(4, index)))
  while (rows.expire(0, 4) > 0) expect(kept(quiet)).toEqual([1, 2])
  expect(kept(busy)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 25])
  database.close()
})
