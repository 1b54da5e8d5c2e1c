/** What every item index promises: rows by id, searches, namespaces, as a plain model has them. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { ItemRow } from '../../proto/gen/storage/v1/row.ts'
import { deletedMs, isAlive, itemId, pageOfNamespaces, passes } from '../../src/search/index.ts'
import type { ItemQuery, NamespaceQuery } from '../../src/search/index.ts'
import { anItem } from './rows.ts'
import { useStore } from './store-place.ts'
import type { MakePlace } from './store-place.ts'
import { expectAlways } from '../support/expect-always.ts'

const nowMs = 1_000_000

const label = fc.constantFrom('a', 'b', 'ab', 'a-', 'ü')
const labels = fc.array(label, { minLength: 1, maxLength: 3 })
const number = fc.constantFrom(1, 2, 10)

const change = fc.record({
  namespace: labels,
  key: fc.constantFrom('k', 'l', '_%'),
  value: fc.record({ n: number, s: fc.constantFrom('x', 'y', null) }, { requiredKeys: [] }),
  updatedAtMs: fc.nat(3),
  expiresAtMs: fc.constantFrom(0, 0, deletedMs, nowMs - 1, nowMs, nowMs + 1),
  isRemoval: fc.constantFrom(false, false, false, true),
})

const operator = fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte')
const filter = fc.record({
  n: fc.oneof(number, fc.tuple(operator, number).map(([name, value]) => ({ [name]: value }))),
  s: fc.oneof(fc.constantFrom('x', null), fc.constant({ $in: ['x', 'y'] }),
    fc.constant({ $nin: ['x'] })),
}, { requiredKeys: [] })

const path = fc.array(fc.oneof(label, fc.constant('*')), { maxLength: 3 })
const page = { limit: fc.integer({ min: 1, max: 5 }), offset: fc.nat(4) }
const search = fc.record({ ...page, prefix: fc.array(label, { maxLength: 2 }),
  filter: fc.option(filter, { nil: undefined }) })
const listing = fc.record({ ...page, maxDepth: fc.option(fc.integer({ min: 1, max: 3 }), {
  nil: undefined,
}), conditions: fc.array(
  fc.record({ matchType: fc.constantFrom('prefix' as const, 'suffix' as const), path }),
  { maxLength: 2 },
) })

const coordinate = fc.constantFrom(-1, 0.25, 0.5, 3)
const vectored = fc.record({
  key: fc.constantFrom('k', 'l', 'm', 'n', 'o'),
  n: fc.constantFrom(1, 1, 2),
  dims: fc.constantFrom(2, 2, 2, 3),
  vectors: fc.array(fc.tuple(coordinate, coordinate, coordinate), { maxLength: 3 }),
  isAway: fc.constantFrom(false, false, true),
})

function cosine([x, y]: readonly number[], [a, b]: readonly number[]): number {
  return (x! * a! + y! * b!) / (Math.hypot(x!, y!) * Math.hypot(a!, b!))
}

/** The row without what searches leave out. */
function shown(row: ItemRow): ItemRow {
  return { ...row, vectors: Buffer.alloc(0), dims: 0 }
}

function found(rows: readonly ItemRow[], { prefix, filter = {}, offset, limit }: ItemQuery) {
  const text = ({ namespace, key }: ItemRow) =>
    Buffer.from(`${namespace.map((each) => `${each}.`).join('')}\0${key}`)
  return rows
    .filter(({ namespace }) => prefix.every((each, index) => namespace[index] === each))
    .filter(({ valueJson }) => passes(JSON.parse(valueJson), filter))
    .toSorted((a, b) => b.updatedAtMs - a.updatedAtMs || Buffer.compare(text(a), text(b)))
    .slice(offset, offset + limit)
}

export function describeItemIndex(name: string, makePlace: MakePlace): void {
  describe(`the item index of the ${name} store`, () => {
    const store = useStore(makePlace)
    const put = (...rows: ItemRow[]) =>
      store.log.append([], rows.map((row) => ({ table: 'item', row })))

    it('gives back every field of the newest row, also of one that has ended', async () => {
      const vectors = Buffer.from(Float32Array.of(1, 2, 3, 4).buffer)
      const row = anItem({ namespace: ['a', 'ü'], key: 'k"\n', epoch: 2, valueJson: '{"a":[1]}',
        createdAtMs: 5, updatedAtMs: 6, ttlMs: 7, expiresAtMs: 8, vectors, dims: 2,
        applied: ['c'] })
      const id = itemId(row.namespace, row.key)
      expect(await store.items.get('local', id)).toBeUndefined()
      await put(anItem({ namespace: row.namespace, key: row.key }))
      await put(row)
      expect(await store.items.get('local', id)).toEqual(row)
      expect(await store.items.get('other', id)).toBeUndefined()
      const later = { ...row, vectors: Buffer.alloc(0), dims: 0 }
      await put(later)
      expect(await store.items.get('local', id)).toEqual(later)
    })

    it('names what has ended, until it is removed', async () => {
      const tenant = randomUUID()
      const rows = [anItem({ tenant, expiresAtMs: 50 }), anItem({ tenant, expiresAtMs: 200 }),
        anItem({ tenant, expiresAtMs: deletedMs, updatedAtMs: 60 }),
        anItem({ tenant, expiresAtMs: deletedMs, updatedAtMs: 150 }), anItem({ tenant })]
      await put(...rows)
      const ids = rows.map(({ namespace, key }) => itemId(namespace, key))
      const ended = async () =>
        (await store.items.ended(100, 10_000)).filter((each) => each.tenant === tenant)
          .map(({ id }) => ids.indexOf(id)).toSorted()
      expect(await ended()).toEqual([0, 2])
      await store.log.append([], [{ table: 'item_removed', tenant, id: ids[0]!, epoch: 1 }])
      expect(await ended()).toEqual([2])
      expect(await store.items.get(tenant, ids[0]!)).toBeUndefined()
    })

    it('counts the bytes of what a tenant keeps', async () => {
      const tenant = randomUUID()
      const [one, other] = [anItem({ tenant }), anItem({ tenant })]
      const bytes = async () => (await store.use(tenant)).bytes
      await put(one, other)
      const both = await bytes()
      expect(both).toBeGreaterThan(40)
      const large = { ...one, valueJson: JSON.stringify({ text: 'x'.repeat(1_000) }) }
      await put(large)
      expect(await bytes()).toBeGreaterThan(both + 1_000)
      for (const { namespace, key } of [one, other]) {
        const id = itemId(namespace, key)
        await store.log.append([], [{ table: 'item_removed', tenant, id, epoch: 1 }])
      }
      expect(await bytes()).toBe(0)
    })

    it('finds the nearest first, and what has no vectors of that length last', async () => {
      await expectAlways(
        fc.asyncProperty(fc.array(vectored, { minLength: 1, maxLength: 15 }),
          fc.tuple(coordinate, coordinate), fc.record(page),
          async (items, vector, { ...slice }) => {
            const tenant = randomUUID()
            const model = new Map<string, { row: ItemRow; score: number | undefined }>()
            for (const { key, n, dims, vectors, isAway } of items) {
              const numbers = vectors.flatMap((each) => each.slice(0, dims))
              const row = anItem({ tenant, key, namespace: isAway ? ['ab'] : ['a', 'b'],
                valueJson: JSON.stringify({ n }), dims: numbers.length > 0 ? dims : 0,
                vectors: Buffer.from(Float32Array.from(numbers).buffer) })
              await put(row)
              const scores = dims === 2 ? vectors.map((each) => cosine(each, vector)) : []
              const score = scores.length > 0 ? Math.max(...scores) : undefined
              model.set(itemId(row.namespace, key), { row, score })
            }
            const query: ItemQuery = { ...slice, tenant, nowMs, prefix: ['a'], filter: { n: 1 },
              vector }
            const { rows } = await store.items.search(query)
            const wanted = [...model.values()]
              .filter(({ row }) => row.namespace[0] === 'a' && row.valueJson === '{"n":1}')
              .toSorted((a, b) => (b.score ?? -2) - (a.score ?? -2))
            const shownScores = wanted.slice(slice.offset, slice.offset + slice.limit)
              .map(({ score }) => score)
            expect(rows.map(({ score }) => score?.toFixed(5)))
              .toEqual(shownScores.map((score) => score?.toFixed(5)))
            for (const { row, score } of rows) {
              const known = model.get(itemId(row.namespace, row.key))!
              expect(row).toEqual(shown(known.row))
              expect(score?.toFixed(5)).toBe(known.score?.toFixed(5))
            }
          }),
      )
    })

    it('finds what has all words, in its labels, its key or its value, page by page', async () => {
      const tenant = randomUUID()
      const rows = [['a', 'one', 'Plum "jam"'], ['a', 'two', 'plum'], ['b', 'plum', 'jam'], ['plum',
        'jam', '']].map(([label, key, text], at) =>
          anItem({ tenant, key: key!, namespace: [label!], updatedAtMs: 1_000 - at,
            valueJson: JSON.stringify({ text }) })
        )
      await put(...rows)
      const keys = async (words: readonly string[], more: Partial<ItemQuery> = {}) =>
        (await store.items.search({ tenant, nowMs, prefix: [], limit: 10, offset: 0, words,
          ...more }))
          .rows.map(({ row }) => row.key)
      expect(await keys(['PLUM'])).toEqual(['one', 'two', 'plum', 'jam'])
      expect(await keys(['plum', 'jam'])).toEqual(['one', 'plum', 'jam'])
      expect(await keys(['plum', 'jam'], { offset: 1, limit: 1 })).toEqual(['plum'])
      expect(await keys(['"jam"'])).toEqual(['one'])
      expect(await keys(['plum'], { prefix: ['a'], filter: { text: 'plum' } })).toEqual(['two'])
      expect(await keys(['pear'])).toEqual([])
    })

    it('finds items and namespaces as the model does', async () => {
      await expectAlways(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }),
          fc.array(search, { minLength: 3, maxLength: 3 }),
          fc.array(listing, { minLength: 3, maxLength: 3 }),
          async (changes, searches, listings) => {
            const tenant = randomUUID()
            const model = new Map<string, ItemRow>()
            for (const { value, isRemoval, ...fields } of changes) {
              const row = anItem({ ...fields, tenant, valueJson: JSON.stringify(value) })
              const id = itemId(row.namespace, row.key)
              if (isRemoval) {
                await store.log.append([], [{ table: 'item_removed', tenant, id, epoch: 1 }])
                model.delete(id)
              } else {
                await put(row)
                model.set(id, row)
              }
            }
            const alive = [...model.values()].filter((row) => isAlive(row, nowMs))
            for (const { filter: wanted, ...each } of searches) {
              const query: ItemQuery = { ...each, tenant, nowMs, ...wanted && { filter: wanted } }
              const { rows } = await store.items.search(query)
              expect(rows.map(({ row }) => row)).toEqual(found(alive, query).map(shown))
            }
            for (const { maxDepth, ...each } of listings) {
              const query: NamespaceQuery = { ...each, tenant, nowMs,
                ...maxDepth !== undefined && { maxDepth } }
              const all = alive.map(({ namespace }) => namespace)
              expect(await store.items.namespaces(query)).toEqual(pageOfNamespaces(all, query))
            }
          }),
      )
    })
  })
}
