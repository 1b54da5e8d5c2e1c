/** Lists of records: long metadata do not hold up other work. */

import { expect, it } from 'vitest'

import { madeRecord } from '../../../../src/platform/records/catalog/catalog-record.ts'
import { RecordIndex } from '../../../../src/platform/records/catalog/record-index.ts'
import { pageOf } from '../../../../src/platform/records/catalog/record-query.ts'

it('Other work has its turn before many characters of metadata are parsed.', async () => {
  const index = new RecordIndex()
  const metadataJson = JSON.stringify({ a: 1, long: 'x'.repeat(100_000) })
  for (let n = 0; n < 30; n++) {
    index.put(
      madeRecord({ id: `${n}`, name: `${n}`, orderMs: n, parentId: '', metadataJson,
        bodyJson: '{}' }, n),
    )
  }
  let turns = 0
  const { total } = await pageOf(index, { sortBy: 'order', descending: false, limit: 1, offset: 0,
    metadata: { a: 1 } }, async () => void turns++)
  expect(total).toBe(30)
  expect(turns).toBeGreaterThanOrEqual(10)
})
