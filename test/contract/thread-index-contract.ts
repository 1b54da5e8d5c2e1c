/** What every thread index promises: rows by id, search and counts. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { ThreadRow, UnfinishedRun } from '../../proto/gen/storage/v1/row.ts'
import { placeOfThread, wordsOf } from '../../src/search/index.ts'
import type { ThreadQuery } from '../../src/search/index.ts'
import { expectAlways } from '../support/expect-always.ts'
import { aBranch, aThread } from './rows.ts'
import { filters, matchingThreads, pageOfThreads } from './search-model.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'

const statuses = ['idle', 'busy', 'interrupted', 'error'] as const

const unfinished = (): UnfinishedRun => ({ runId: randomUUID(), createdSeq: 1, updatedAtMs: 1,
  status: 'pending', started: false, attempt: 0, baseCheckpointId: '', firstSeq: 1, startedAtMs: 0,
  notBeforeMs: 0, inputCharacters: 0, ownerDeaths: 0, suspect: false })

const topics = ['cat', 'black cats', 'red dogs', 'bare cups']

const anything = { sortBy: 'created_at', sortOrder: 'desc', limit: 10, offset: 0 } as const

/** A search among `many` threads agrees with the model as well. */
export function describeThreadIndex(name: string, makePlace: MakePlace, many = 3_000): void {
  describe(`the thread index of the ${name} store`, () => {
    const store = useStore(makePlace)

    const put = (...rows: ThreadRow[]) =>
      store.log.append([], rows.map((row) => ({ table: 'thread', row })))
    const search = (query: Partial<ThreadQuery> & { tenant: string }) =>
      store.threads.search({ ...anything, ...query })
    const ids = async (query: Partial<ThreadQuery> & { tenant: string }) =>
      (await search(query)).rows.map(({ threadId }) => threadId)

    describe('rows', () => {
      it('are given back with every field of the newest one', async () => {
        const row = aThread({
          branch: aBranch({ id: randomUUID(), through: 7 }),
          epoch: 3,
          seq: 9,
          createdAtMs: 1,
          updatedAtMs: 2,
          stateUpdatedAtMs: 3,
          status: 'interrupted',
          metadataJson: '{"é":"ü💡"}',
          configJson: '{"tags":[]}',
          errorJson: '{"error":"E"}',
          interruptsJson: '{"t":[]}',
          head: { id: randomUUID(), seq: 8, base: 4 },
          movedBack: true,
          applied: [{ id: 'h', seq: 9 }],
        })
        await put(aThread({ threadId: row.threadId, branch: row.branch! }), row)
        expect(await store.threads.get('local', row.threadId)).toEqual(row)
        expect(await store.threads.get('local', randomUUID())).toBeUndefined()
      })

      it('of an earlier position are ignored, and of the same one are taken', async () => {
        const row = aThread({ epoch: 2, seq: 5, status: 'busy' })
        await put(row, { ...row, seq: 4, status: 'idle' }, { ...row, epoch: 1, seq: 9 })
        expect(await store.threads.get('local', row.threadId)).toEqual(row)
        const same = { ...row, status: 'error' }
        await put(same)
        expect(await store.threads.get('local', row.threadId)).toEqual(same)
      })

      it('of another branch are taken at any position: the thread was made again', async () => {
        const old = aThread({ epoch: 2, seq: 50 })
        const again = aThread({ threadId: old.threadId, epoch: 2, seq: 1 })
        const stray = aThread({ threadId: old.threadId, epoch: 1, seq: 99 })
        await put(old, again, stray)
        expect(await store.threads.get('local', old.threadId)).toEqual(again)
      })

      it('of different tenants are separate', async () => {
        const [one, other] = [randomUUID(), randomUUID()]
        const row = aThread({ tenant: one, metadataJson: '{"a":1}' })
        await put(row, { ...row, tenant: other, status: 'error' })
        expect((await store.threads.get(one, row.threadId))?.status).toBe('idle')
        expect(await store.threads.count({ tenant: one })).toBe(1)
        expect(await store.threads.count({ tenant: one, status: 'error' })).toBe(0)
        expect((await search({ tenant: other, metadata: { a: 1 } })).rows)
          .toEqual([{ ...row, tenant: other, status: 'error' }])
      })
    })

    describe('a time to live', () => {
      it('leaves a thread out of searches and counts from its time on, and tells when that is',
        async () => {
          const tenant = randomUUID()
          const thread = (strategy: string, row: Partial<ThreadRow> = {}) =>
            aThread({ tenant, updatedAtMs: 5, metadataJson: '{"a":1}',
              timeToLive: { strategy, minutes: 1, expiresAtMs: 1_000 }, ...row })
          const gone = thread('delete')
          const rows = [gone, thread('keep_latest'),
            thread('delete', { status: 'busy', unfinished: [unfinished()] }),
            thread('delete', { owedWebhooks: ['r'] }), thread('delete', { updatedAtMs: 1_001 }),
            aThread({ tenant, metadataJson: '{"a":1}' })]
          await put(...rows)
          for (const filter of [{}, { metadata: { a: 1 } }, { ids: [gone.threadId] }, {
            status: 'idle' as const,
          }]) {
            for (const [expiredBy, missing] of [[999, 0], [1_000, 1], [61_000, 1]] as const) {
              const all = await store.threads.count({ tenant, ...filter })
              const query = { tenant, ...filter, expiredBy, limit: 99 }
              const left = await ids(query)
              expect([left.length, left.includes(gone.threadId), await store.threads.count(query)])
                .toEqual([all - missing, missing === 0, all - missing])
            }
          }
          expect(await store.threads.count({ tenant, expiredBy: 61_001 })).toBe(4)
          const due = async () =>
            (await store.due({ atMs: 0, no: 0 }, 10_000)).filter((each) => each.tenant === tenant)
              .map(({ threadId, atMs }) => [threadId, atMs])
          // Two are due at the same time, in any order.
          expect((await due()).map(([, atMs]) => atMs)).toEqual([1_000, 1_000, 61_001])
          expect(Object.fromEntries(await due())).toEqual({ [gone.threadId]: 1_000,
            [rows[1]!.threadId]: 1_000, [rows[4]!.threadId]: 61_001 })
          await put({ ...gone, seq: 2, timeToLive: undefined })
          expect(await store.threads.count({ tenant, expiredBy: 5_000 })).toBe(6)
          expect(await due()).toHaveLength(2)
        })
    })

    describe('search', () => {
      it('leaves hidden threads out until they are kept', async () => {
        const tenant = randomUUID()
        const row = aThread({ tenant, hidden: true, metadataJson: '{"a":1}', status: 'busy' })
        await put(row)
        expect((await search({ tenant })).rows).toEqual([])
        expect(await store.threads.count({ tenant, metadata: { a: 1 } })).toBe(0)
        expect(await store.threads.get(tenant, row.threadId)).toEqual(row)
        const kept = { ...row, seq: 2, hidden: false, status: 'idle' }
        await put(kept)
        expect(await search({ tenant, metadata: { a: 1 } })).toEqual({ rows: [kept], total: 1 })
        await put({ ...kept, seq: 3, hidden: true })
        expect(await search({ tenant, metadata: { a: 1 } })).toEqual({ rows: [], total: 0 })
      })

      it('finds a thread by its current metadata only', async () => {
        const tenant = randomUUID()
        const row = aThread({ tenant, metadataJson: '{"user":"a","kept":1}' })
        await put(row)
        const changed = { ...row, seq: 2, metadataJson: '{"user":"b","kept":1}' }
        await put(changed)
        expect(await ids({ tenant, metadata: { user: 'a' } })).toEqual([])
        expect(await ids({ tenant, metadata: { user: 'b', kept: 1 } })).toEqual([row.threadId])
      })

      it('sorts by current times only', async () => {
        const tenant = randomUUID()
        const metadata = { user: 'a' }
        const [one, other] = [1, 2].map((at) =>
          aThread({ tenant, createdAtMs: at, updatedAtMs: at, stateUpdatedAtMs: at,
            metadataJson: JSON.stringify(metadata) })
        )
        await put(one!, other!, { ...one!, seq: 2, createdAtMs: 3, updatedAtMs: 3,
          stateUpdatedAtMs: 3 })
        for (const sortBy of ['created_at', 'updated_at', 'state_updated_at'] as const) {
          const newestFirst = [one!.threadId, other!.threadId]
          expect(await ids({ tenant, sortBy })).toEqual(newestFirst)
          expect(await ids({ tenant, sortBy, metadata })).toEqual(newestFirst)
        }
      })

      it('distinguishes values that look alike', async () => {
        const tenant = randomUUID()
        const values = [1, '1', true, 'true', null, 'null', [], {}, [1], { a: 1 }, '', 'Ä', 'ä',
          1.5, `${'x'.repeat(300)}a`, `${'x'.repeat(300)}b`]
        const rows = values.map((value) =>
          aThread({ tenant, metadataJson: JSON.stringify({ value }) })
        )
        await put(...rows)
        for (const value of values) {
          const filter = { tenant, metadata: { value } }
          expect(await ids({ ...filter, limit: 99 }), JSON.stringify(value).slice(0, 20))
            .toEqual(pageOfThreads(rows, { ...anything, ...filter, limit: 99 })
              .map(({ threadId }) => threadId))
        }
      })

      it('finds keys of any kind', async () => {
        const tenant = randomUUID()
        const long = 'k'.repeat(300)
        const metadata = { constructor: 1, 'a"b': 2, 'ключ': 3, [`${long}1`]: 4, '': 5 }
        const row = aThread({ tenant, metadataJson: JSON.stringify(metadata) })
        const alike = JSON.stringify({ [`${long}2`]: 4 })
        await put(row, aThread({ tenant, metadataJson: alike }))
        for (const [key, value] of Object.entries(metadata)) {
          expect(await ids({ tenant, metadata: { [key]: value } })).toEqual([row.threadId])
        }
      })

      it('distinguishes keys that differ only beyond where an index cuts them', async () => {
        const tenant = randomUUID()
        const keys = Array.from({ length: 8 }, (_, length) => 'k'.repeat(194 + length))
          .flatMap((start) => ['\u{1F600}', '\u{1F000}', '\u{20000}'].map((end) => start + end))
        const metadata = Object.fromEntries(keys.map((key, number) => [key, number]))
        const row = aThread({ tenant, metadataJson: JSON.stringify(metadata) })
        await put(row)
        for (const [key, value] of Object.entries(metadata)) {
          expect(await ids({ tenant, metadata: { [key]: value } })).toEqual([row.threadId])
        }
      })

      it('pages through equal times without repeating or skipping a thread', async () => {
        const tenant = randomUUID()
        await put(...Array.from({ length: 25 }, () => aThread({ tenant })))
        for (const sortBy of ['created_at', 'updated_at', 'state_updated_at', 'status'] as const) {
          const seen: string[] = []
          for (let offset = 0; offset < 30; offset += 7) {
            seen.push(...await ids({ tenant, sortBy, limit: 7, offset }))
          }
          expect(new Set(seen).size).toBe(25)
          expect(seen.length).toBe(25)
        }
      })

      it('finds a thread by its words of now, and by the beginning of its id', async () => {
        const tenant = randomUUID()
        const row = aThread({ tenant,
          metadataJson: '{"title":"Über die Öfen — facebook, 東京都"}' })
        const other = aThread({ tenant: randomUUID(), metadataJson: row.metadataJson })
        await put(row, other)
        const finds = async (q: string, expected: readonly string[] = [row.threadId]) =>
          expect(await ids({ tenant, words: wordsOf(q) }), q).toEqual(expected)
        for (const q of ['uber', 'ÖF facE', '京都', 'ofen', row.threadId, row.threadId.slice(0, 4),
          row.threadId.slice(0, 11), 'FACEBOOK']) await finds(q)
        expect(await store.threads.count({ tenant, words: ['facebook'] })).toBe(1)
        for (const q of ['book', 'uber x', row.threadId.slice(0, 3), row.threadId.slice(1, 7),
          other.threadId]) await finds(q, [])
        await put({ ...row, seq: 2, opening: 'hello there' })
        await finds('hel the ofen')
        await put({ ...row, seq: 3, opening: 'hello there', metadataJson: '{"name":"plain"}' })
        await finds('hello plain')
        await finds('ofen', [])
        expect(await store.threads.count({ tenant, words: ['plain'] })).toBe(1)
        const end = { tenant, id: row.threadId, branch: row.branch!, epoch: row.epoch }
        await store.log.purge({ table: 'thread', ...end })
        await finds('plain', [])
      })

      it('agrees with the model after any changes', async () => {
        const thread = fc.record({
          index: fc.nat(9),
          status: fc.constantFrom(...statuses),
          hidden: fc.boolean(),
          createdAtMs: fc.nat(3),
          updatedAtMs: fc.nat(3),
          stateUpdatedAtMs: fc.nat(3),
          opening: fc.constantFrom(undefined, undefined, 'red cat', 'blue'),
          metadata: fc.oneof(fc.constantFrom({ x: 1, title: 'black cat' }, { x: 1, y: 'a' }),
            metadata()),
        })
        await expectAlways(
          fc.asyncProperty(fc.array(thread, { minLength: 1, maxLength: 30 }),
            fc.array(query(), { minLength: 1, maxLength: 5 }), async (changes, queries) => {
            const tenant = randomUUID()
            const rows = new Map<number, ThreadRow>()
            for (const { index, metadata, ...fields } of changes) {
              const old = rows.get(index)
              const row = { ...old ?? aThread({ tenant }), ...fields, seq: (old?.seq ?? 0) + 1,
                metadataJson: JSON.stringify(metadata) }
              rows.set(index, row)
              await put(row)
            }
            for (const each of queries) {
              await expectAgreement([...rows.values()], { ...each, tenant })
            }
          }),
          { share: 3 },
        )
      })

      it('agrees with the model among many threads', async () => {
        const tenant = randomUUID()
        const random = aNumber(7)
        const rows = Array.from({ length: many }, (_, index) =>
          aThread({
            tenant,
            createdAtMs: index >> 1,
            updatedAtMs: index >> 3,
            stateUpdatedAtMs: random(900),
            ...random(20) === 0 && { timeToLive: aLife(random(200)) },
            // The oldest are interrupted: a scan from the newest must not take for ever.
            status: index < many * 0.37 ? 'interrupted' : ['busy', 'error'][random(40)] ?? 'idle',
            opening: random(2) === 0 ? `about ${topics[random(4)]}` : undefined,
            metadataJson: JSON.stringify({ all: 'same', title: `${topics[random(4)]} talk`,
              third: random(3), user: random(300), half: index < many / 2 ? 'old' : 'new',
              tags: [`t${random(50)}`, { deep: random(9) }] }),
          }))
        for (let from = 0; from < rows.length; from += 500) {
          await put(...rows.slice(from, from + 500))
        }
        const metadata = fc.record({
          all: fc.constant('same'),
          third: fc.nat(2),
          user: fc.nat(300),
          half: fc.constantFrom('old', 'new'),
          tags: fc.oneof(fc.nat(50).map((n) => [`t${n}`]), fc.nat(9).map((deep) => [{ deep }])),
        }, { requiredKeys: [] })
        await expectAlways(
          fc.asyncProperty(query(metadata, [0, 5, many >> 2, many - 10]), async (each) => {
            const ids = each.ids?.map((id) => rows[Number(id)]?.threadId ?? id)
            await expectAgreement(rows, { ...each, tenant, ...ids && { ids } })
          }),
          { share: 3 },
        )
      })

      const expectAgreement = async (rows: readonly ThreadRow[],
        { behind, ...asked }: ThreadQuery & Behind) => {
        const place = behind === undefined ? undefined : rows[behind % rows.length]
        const query = { ...asked,
          ...place && { after: placeOfThread(place, asked.sortBy), offset: 0 } }
        const answer = await store.threads.search(query)
        expect(answer.rows).toEqual(pageOfThreads(rows, query))
        expect(answer.total).toBe(matchingThreads(rows, query).length)
        expect(await store.threads.count(query)).toBe(answer.total)
      }
    })
  })
}

/** From few values, so that filters match documents. */
function metadata(): fc.Arbitrary<Record<string, unknown>> {
  const scalar = fc.constantFrom<unknown>(0, 1, 'a', 'b', true, null)
  const value = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small', maxDepth: 3 }, scalar,
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('x', 'y'), tie('value'), { maxKeys: 2 })),
  })).value
  return fc.dictionary(fc.constantFrom('x', 'y', 'z'), value, { maxKeys: 3 })
}

/** Any query; ids are numbers that the caller turns into those of threads. */
function query(filter: fc.Arbitrary<Record<string, unknown>> = metadata(),
  offsets = [0, 1, 5]): fc.Arbitrary<Omit<ThreadQuery, 'tenant'> & Behind> {
  return fc.record({
    sortBy: fc.constantFrom('thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'),
    sortOrder: fc.constantFrom('asc', 'desc'),
    limit: fc.constantFrom(1, 3, 10, 1_000),
    offset: fc.constantFrom(...offsets),
    status: fc.constantFrom(undefined, undefined, ...statuses),
    metadata: fc.oneof(fc.constant(undefined), filter),
    allowed: fc.constantFrom(...filters),
    expiredBy: fc.constantFrom(undefined, 0, 100, 1_000_000),
    hidden: fc.constantFrom(undefined, undefined, undefined, true),
    updatedAfterMs: fc.constantFrom(undefined, undefined, undefined, 0, 1, 300),
    updatedBeforeMs: fc.constantFrom(undefined, undefined, undefined, 1, 3, 320),
    words: fc.constantFrom(undefined, undefined, undefined, ['cat'], ['b'], ['talk'], ['about',
      'c'], ['zebra'], ['ta', 'red', 'ab']),
    behind: fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, fc.nat(2_999)),
    ids: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1,
      arbitrary: fc.array(fc.nat(2_999).map(String), { maxLength: 20 }) }),
  }).map((each) =>
    each.metadata || each.words ? { ...each, hidden: undefined } : each
  ) as fc.Arbitrary<
    Omit<ThreadQuery, 'tenant'> & Behind
  >
}

/** A row behind whose place the page begins. */
interface Behind {
  readonly behind?: number
}

/** Half of them keep the newest state. */
function aLife(expiresAtMs: number): ThreadRow['timeToLive'] {
  return { strategy: expiresAtMs % 2 === 0 ? 'delete' : 'keep_latest', minutes: 1, expiresAtMs }
}

/** Pseudo-random numbers below a limit, the same in every run. */
function aNumber(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 2_147_483_648 * limit)
  }
}
