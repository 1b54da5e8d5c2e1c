/** What every table of billing records promises: one per run, by day, whatever is purged. */

import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import { describe, expect, it } from 'vitest'

import { firstPlace } from '../../src/billing/index.ts'
import type { BillingPlace, BillingRow } from '../../src/billing/index.ts'
import { aRow, aRun, aThread } from './rows.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'

/** Its run id is greater than that of every record made before it. */
function aRecord(more: Partial<BillingRow> = {}): BillingRow {
  return {
    tenant: randomUUID(),
    day: '2026-11-20',
    runId: v7(),
    threadId: randomUUID(),
    assistantId: randomUUID(),
    graphId: 'agent',
    status: 'success',
    startedMs: 1_795_132_800_000,
    endedMs: 1_795_132_801_234,
    ...more,
  }
}

export function describeBillingTable(name: string, makePlace: MakePlace): void {
  describe(`the billing table of the ${name} store`, () => {
    const store = useStore(makePlace)

    const put = (...rows: BillingRow[]) =>
      store.log.append([], rows.map((row) => ({ table: 'billing', row })))
    const page = ({ tenant, day }: BillingRow, after: BillingPlace = firstPlace, limit = 1_000) =>
      store.billing.page({ tenant, day, after, limit })

    it('gives back every field', async () => {
      const [row, unstarted] = [aRecord(), aRecord({ startedMs: null, status: 'interrupted' })]
      await put(row, unstarted)
      expect(await page(row)).toEqual([row])
      expect(await page(unstarted)).toEqual([unstarted])
    })

    it('has one record per run, however often it is written', async () => {
      const row = aRecord()
      await put(row, row)
      await put(row)
      expect(await page(row)).toEqual([row])
    })

    it('has a record of each run, even if a later run has the id of an earlier one', async () => {
      const row = aRecord()
      const again = { ...row, startedMs: null, endedMs: row.endedMs + 1 }
      await put(row)
      await put(again)
      expect(await page(row)).toEqual([row, again])
    })

    it('lists a day of a tenant in pages', async () => {
      const { tenant } = aRecord()
      const rows = Array.from({ length: 25 }, () => aRecord({ tenant }))
      await put(...rows.toReversed(), aRecord(), aRecord({ tenant, day: '2026-11-19' }))
      expect(await page(rows[0]!)).toEqual(rows)
      expect(await page(rows[0]!, firstPlace, 10)).toEqual(rows.slice(0, 10))
      expect(await page(rows[0]!, rows[19], 10)).toEqual(rows.slice(20))
      expect(await page(rows[0]!, rows[24])).toEqual([])
    })

    it('keeps the record of a run whose thread is deleted', async () => {
      const thread = aThread()
      const { tenant, threadId, branch } = thread
      const run = aRun({ tenant, threadId })
      const record = aRecord({ tenant, threadId, runId: run.runId })
      await store.log.append([aRow({ tenant, branch: branch!, seq: 1 })], [
        { table: 'run', row: run },
        { table: 'billing', row: record },
        { table: 'thread', row: thread },
      ])
      await store.log.purge({ table: 'thread', tenant, id: threadId, branch: branch!, epoch: 1 })
      expect(await store.runs.get(tenant, threadId, run.runId)).toBeUndefined()
      expect((await page(record)).filter(({ runId }) => runId === run.runId)).toEqual([record])
    })
  })
}
