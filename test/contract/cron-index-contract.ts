/** What every cron index promises: rows by id, search, count, due times, and what a tenant uses. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { CronQuery } from '../../src/search/index.ts'
import { aBranch, aCron, aRow } from './rows.ts'
import { filters, matchingCrons, pageOfCrons } from './search-model.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'
import { expectAlways } from '../support/expect-always.ts'

const metadata = fc.dictionary(fc.constantFrom('x', 'y'),
  fc.constantFrom<unknown>(1, '1', null, [1, { a: 1 }], { a: { b: 1 } }), { maxKeys: 2 })
const ids = ['', '11111111-1111-4111-8111-111111111111',
  '22222222-2222-4222-8222-222222222222'] as const

const fields = fc.record({
  assistantId: fc.constantFrom(ids[1], ids[2]),
  threadId: fc.constantFrom(...ids),
  enabled: fc.boolean(),
  nextMs: fc.nat(3),
  endTimeMs: fc.nat(3),
  createdAtMs: fc.nat(3),
  updatedAtMs: fc.nat(3),
  metadataJson: metadata.map((each) => JSON.stringify(each)),
})
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.oneof(value, fc.constant(undefined))
const query = fc.record({
  sortBy: fc.constantFrom('cron_id', 'assistant_id', 'thread_id', 'next_run_date', 'end_time',
    'created_at', 'updated_at'),
  sortOrder: fc.constantFrom('asc', 'desc'),
  limit: fc.constantFrom(1, 3, 100),
  offset: fc.constantFrom(0, 1, 4),
  assistantId: maybe(fc.constantFrom(ids[1])),
  threadId: maybe(fc.constantFrom(ids[1])),
  enabled: maybe(fc.boolean()),
  metadata: maybe(metadata),
  allowed: fc.constantFrom(...filters),
})

export function describeCronIndex(name: string, makePlace: MakePlace): void {
  describe(`the cron index of the ${name} store`, () => {
    const store = useStore(makePlace)

    const put = (...rows: CronRow[]) =>
      store.log.append([], rows.map((row) => ({ table: 'cron', row })))

    it('gives back every field of the newest row', async () => {
      const row = aCron({ epoch: 2, seq: 4, assistantId: 'a', threadId: 't', timezone: 'Asia/Tokyo',
        endTimeMs: 9, enabled: true, metadataJson: '{"c":3}', payloadJson: '{"input":1}',
        userId: 'u', nextMs: 5, wakeMs: 6, firedMs: 4, refusedMs: 5, refusedSinceMs: 3,
        applied: [{ id: 'h', seq: 4 }], storedBytes: 77 })
      await put(aCron({ cronId: row.cronId, branch: row.branch! }), row)
      expect(await store.crons.get('local', row.cronId)).toEqual(row)
      expect(await store.crons.get('other', row.cronId)).toBeUndefined()
    })

    it('ignores a row of an earlier owner', async () => {
      const row = aCron({ epoch: 3, seq: 5, schedule: '1 1 1 1 1' })
      await put(row)
      await put({ ...row, epoch: 2, seq: 9, schedule: '2 2 2 2 2' })
      expect(await store.crons.get('local', row.cronId)).toEqual(row)
    })

    it('agrees with the model in search and count', async () => {
      await expectAlways(
        fc.asyncProperty(fc.array(fields, { maxLength: 12 }),
          fc.array(query, { minLength: 1, maxLength: 4 }), async (made, queries) => {
          const tenant = randomUUID()
          const rows = made.map((each) => aCron({ ...each, tenant }))
          await put(...rows)
          for (const each of queries) {
            const query = { ...each, tenant } as CronQuery
            const answer = await store.crons.search(query)
            expect(answer.rows).toEqual(pageOfCrons(rows, query))
            expect(answer.total).toBe(matchingCrons(rows, query).length)
            expect(await store.crons.count(query)).toBe(answer.total)
          }
        }),
      )
    })

    it('searches through much metadata as well', async () => {
      const tenant = randomUUID()
      const rows = Array.from({ length: 20 },
        (_, index) =>
          aCron({ tenant, createdAtMs: index,
            metadataJson: JSON.stringify({ even: index % 2 === 0, text: 'x'.repeat(20_000) }) }))
      await put(...rows)
      const even = { tenant, metadata: { even: true }, sortBy: 'created_at', sortOrder: 'asc',
        limit: 3, offset: 1 } as const
      const found = await store.crons.search(even)
      expect(found.rows.map(({ createdAtMs }) => createdAtMs)).toEqual([2, 4, 6])
      expect(found.total).toBe(10)
      expect(await store.crons.count({ tenant, metadata: { even: false } })).toBe(10)
    })

    it('names crons that are due in order, a page at a time', async () => {
      const tenant = randomUUID()
      const rows = [30, 10, 0, 20, 10].map((wakeMs) => aCron({ tenant, wakeMs }))
      await put(...rows)
      await put({ ...rows[3]!, seq: 2, wakeMs: 40 })
      const all = await store.dueCrons({ atMs: 0, no: 0 }, 10_000, 5)
      const mine = all.filter((each) => each.tenant === tenant)
      expect(mine.map(({ atMs }) => atMs)).toEqual([10, 10, 30, 40])
      expect(mine[2]!.cronId).toBe(rows[0]!.cronId)
      const page = await store.dueCrons(mine[1]!, 10_000, 5)
      expect(page.filter((each) => each.tenant === tenant)).toEqual(mine.slice(2))
    })

    it('names crons first that a clock ahead has left behind, while it is not there', async () => {
      const tenant = randomUUID()
      const gaps = [{ fromMs: 10, throughMs: 50 }]
      const rows = [{ wakeMs: 60, gaps, enabled: true }, { wakeMs: 0, gaps, enabled: true }, {
        wakeMs: 30,
        gaps,
        enabled: true,
      }, { wakeMs: 65, gaps, enabled: false }, { wakeMs: 70, refusedSinceMs: 50, enabled: true }, {
        wakeMs: 20,
        enabled: true,
      }]
        .map((each) => aCron({ tenant, ...each }))
      await put(...rows)
      const at = async (nowMs: number) =>
        (await store.dueCrons({ atMs: 0, no: 0 }, 10_000, nowMs))
          .filter((each) => each.tenant === tenant)
          .map(({ atMs, cronId }) => [atMs, rows.findIndex((row) => row.cronId === cronId)])
      expect((await at(49)).slice(0, 3).toSorted()).toEqual([[1, 0], [1, 1], [1, 4]])
      expect((await at(49)).slice(3)).toEqual([[20, 5], [30, 2], [65, 3]])
      expect(await at(50)).toEqual([[20, 5], [30, 2], [60, 0], [65, 3], [70, 4]])
    })

    it('counts crons and their bytes, until they are purged', async () => {
      const tenant = randomUUID()
      const rows = [5, 10, 20].map((storedBytes) => aCron({ tenant, storedBytes }))
      await put(...rows)
      await put({ ...rows[0]!, seq: 2, storedBytes: 7 })
      expect(await store.use(tenant)).toMatchObject({ crons: 3, bytes: 37, threads: 0 })
      const { cronId: id, branch } = rows[1]!
      await store.log.append([aRow({ branch: branch!, seq: 1 })], [])
      const subject = { table: 'cron', tenant, id, epoch: 1 } as const
      await store.log.purge({ ...subject, branch: aBranch() })
      await store.log.purge({ ...subject, branch: branch! })
      expect(await store.crons.get(tenant, id)).toBeUndefined()
      expect(await store.log.tail(branch!)).toBeUndefined()
      expect(await store.use(tenant)).toMatchObject({ crons: 2, bytes: 27 })
    })
  })

  describe(`the crons of the ${name} store`, () => {
    it('are there after it is opened again, and counted once', async () => {
      const place = makePlace()
      const first = await place.open()
      const tenant = randomUUID()
      const rows = [1, 2].map((wakeMs) => aCron({ tenant, wakeMs, storedBytes: 5 }))
      await first.log.append([], rows.map((row) => ({ table: 'cron', row })))
      await first.close()
      const again = await place.open()
      const { crons } = again
      const byId = { tenant, sortBy: 'next_run_date', sortOrder: 'asc', limit: 9,
        offset: 0 } as const
      expect((await crons.search(byId)).total).toBe(2)
      expect(await again.dueCrons({ atMs: 0, no: 0 }, 9, 5)).toHaveLength(2)
      expect(await again.use(tenant)).toMatchObject({ crons: 2, bytes: 10 })
      await again.close()
      await place.remove()
    })
  })
}
