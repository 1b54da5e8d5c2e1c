/** What every store of spans promises: heads of all operations in any order, scans, and removal. */

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { noFields, termOf } from '../../src/platform/index.ts'
import type { SpanHead, SpanPlace, SpanStore } from '../../src/platform/index.ts'
import { aHistory, aPlan, aPost, asSets, blockData, headsOf, inOrder, isWanted, noonUs, placeOf,
  requestOf, scanned, uuidOf, wholePlan } from './span-histories.ts'
import type { History } from './span-histories.ts'
import { expectAlways } from '../support/expect-always.ts'

/** A store as the two threads of the platform have it. */
export interface OpenSpans {
  readonly writer: SpanStore
  readonly reader: SpanStore
  /** Closes both, and removes everything. */
  remove(): Promise<void>
}

let tenants = 0

/** A tenant that no other test has. */
export function newTenant(): string {
  tenants += 1
  return `tenant-${process.pid}-${tenants}`
}

/** Opens a store for the tests of a suite. */
export function useSpans(open: () => Promise<OpenSpans>): OpenSpans {
  let spans: OpenSpans
  beforeAll(async () => {
    spans = await open()
  })
  afterAll(() => spans?.remove())
  return { get writer() {
    return spans.writer
  }, get reader() {
    return spans.reader
  }, remove: async () => {} }
}

export function describeSpanPort(name: string, open: () => Promise<OpenSpans>): void {
  describe(`the spans of the ${name} store`, () => {
    const spans = useSpans(open)

    it('are what all their operations say, whatever their order', async () => {
      await expectAlways(fc.asyncProperty(aHistory('a'), aHistory('b'), async (...histories) => {
        const own = histories.map((history) => inTenant(newTenant(), history))
        // Two tenants write the same ids side by side.
        await Promise.all(own.map(async ({ requests }) => {
          for (const request of requests) await spans.writer.write(request)
        }))
        for (const history of own) await expectHeads(spans.reader, history)
      }), { share: 5 })
    })

    it('are found by every plan that wants them, in its order, page by page', async () => {
      await expectAlways(
        fc.asyncProperty(aHistory('a'), fc.array(aPlan('a'), { minLength: 20, maxLength: 20 }),
          fc.integer({ min: 1, max: 7 }), async (one, plans, pageOf) => {
          const history = inTenant(newTenant(), one)
          await Promise.all(history.requests.map((request) => spans.writer.write(request)))
          const heads = headsOf(history)
          for (const unowned of plans) {
            const plan = { ...unowned, tenant: history.tenant }
            const found = await scanned(spans.reader, plan, pageOf)
            expect(found.map(({ id }) => id)).toEqual(inOrder(plan, found).map(({ id }) => id))
            expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
            const wanted = inOrder(plan, heads.filter((head) => isWanted(plan, head)))
            expect(found.filter((head) => isWanted(plan, head)).map((head) => asSets(head)))
              .toEqual(wanted.map((head) => asSets(head)))
          }
        }),
        { share: 5 },
      )
    })

    it('say when what changed them last arrived, however long ago they began', async () => {
      const tenant = newTenant()
      const place = placeOf(tenant, { trace: 1, span: 0, project: 0 })
      const began = { ...place, startUs: noonUs - 400 * 86_400e6, traceStartUs: noonUs }
      await spans.writer.write(requestOf(tenant, [aPost(began, { arrivedUs: noonUs + 5 })]))
      const arrival = async () => (await spans.reader.heads([began]))[0]!.arrivedUs
      expect(await arrival()).toBe(noonUs + 5)
      const patch = { ...aPost(began), kind: 'patch' as const, arrivedUs: noonUs + 7e9,
        fields: { ...noFields, name: 'late' } }
      await spans.writer.write(requestOf(tenant, [patch]))
      expect(await arrival()).toBe(noonUs + 7e9)
    })

    it('that began at one moment are all found, by any index', async () => {
      const tenant = newTenant()
      const places = Array.from({ length: 700 }, (_, index): SpanPlace => ({
        ...placeOf(tenant, { trace: index, span: 0, project: 0 }),
        traceStartUs: noonUs,
        startUs: noonUs + (index < 620 ? 0 : index),
      }))
      await spans.writer.write(
        requestOf(tenant,
          places.map((place) => aPost(place, { terms: [termOf.tag('a')], indexed: 1 }))),
      )
      for (const order of ['newest', 'oldest'] as const) {
        for (const terms of [[], [termOf.tag('a')]]) {
          const plan = { ...wholePlan(tenant), order, terms }
          const ids = (await scanned(spans.reader, plan, 300)).map(({ id }) => id)
          const sorted = inOrder(plan, places as SpanHead[]).map(({ id }) => id)
          expect(ids).toEqual(sorted)
        }
      }
    })

    it('come in slices, with how many were looked at', async () => {
      const tenant = newTenant()
      const places = Array.from({ length: 620 }, (_, index) => ({
        ...placeOf(tenant, { trace: index, span: 0, project: 0 }),
        startUs: noonUs + index,
      }))
      await spans.writer.write(
        requestOf(tenant,
          places.map((place, index) =>
            aPost(place, { fields: { ...noFields, promptTokens: index } })
          )),
      )
      let [found, looked] = [0, 0]
      const plan = { ...wholePlan(tenant),
        ranges: [{ field: 'promptTokens' as const, op: '<' as const, value: 10 }] }
      for await (const slice of spans.reader.scan(plan)) {
        expect(slice.heads.length).toBeLessThanOrEqual(500)
        found += slice.heads.filter(({ promptTokens }) => promptTokens! < 10).length
        looked += slice.looked
      }
      expect(found).toBe(10)
      expect(looked).toBe(620)
    })

    it('of a long trace come by start, in slices', async () => {
      const tenant = newTenant()
      const root = placeOf(tenant, { trace: 1, span: 0, project: 0 })
      const places = Array.from({ length: 1_200 },
        (_, index) => ({ ...root, startUs: root.startUs + (index * 7_919) % 1_200,
          id: uuidOf(3, index) }))
      for (let at = 0; at < 1_200; at += 500) {
        await spans.writer.write(
          requestOf(tenant, places.slice(at, at + 500).map((place) => aPost(place))),
        )
      }
      const found: SpanHead[] = []
      for await (const slice of spans.reader.trace(root)) {
        expect(slice.length).toBeLessThanOrEqual(500)
        found.push(...slice)
      }
      expect(found.map(({ startUs }) => startUs))
        .toEqual(places.map(({ startUs }) => startUs).toSorted((a, b) => a - b))
    })

    it('have a place, and in each project a head of their own', async () => {
      const tenant = newTenant()
      const here = placeOf(tenant, { trace: 1, span: 0, project: 0 })
      const there = { ...here, project: uuidOf(1, 1) }
      const stranger = { ...here, tenant: newTenant() }
      const fieldsOf = (name: string) => ({ fields: { ...noFields, name } })
      await spans.writer.write(
        requestOf(tenant, [aPost(here, fieldsOf('here')), aPost(there, fieldsOf('there'))]),
      )
      const unknown = uuidOf(7, 7)
      const located = await spans.reader.locate(tenant, [here.id, unknown])
      expect(located.toSorted((a, b) => a.project < b.project ? -1 : 1)).toEqual([here, there])
      expect(await spans.reader.locate(stranger.tenant, [here.id])).toEqual([])
      const heads = await spans.reader.heads([there, stranger, { ...here, id: unknown }, here])
      expect(heads.map(({ name: said }) => said).toSorted()).toEqual(['here', 'there'])
    })

    it('keep their blocks and files to their tenant', async () => {
      const tenant = newTenant()
      const place = placeOf(tenant, { trace: 1, span: 0, project: 0 })
      const file = { project: place.project, owner: place.id, ownerTrace: place.trace,
        name: 'a.png', type: 'image/png', data: new Uint8Array(1_000_000).fill(7) }
      await spans.writer.write({ ...requestOf(tenant, [aPost(place, { block: 5n })]),
        files: [file, { ...file, name: 'b', data: new Uint8Array() }] })
      const blocks = (of: SpanPlace) => spans.reader.blocks(of, [5n, 6n])
      expect([...await blocks(place)].map(([id, data]) => [id, Buffer.from(data)]))
        .toEqual([[5n, blockData(5n)]])
      expect((await blocks({ ...place, tenant: newTenant() })).size).toBe(0)
      expect((await blocks({ ...place, trace: uuidOf(7, 7) })).size).toBe(0)
      const files = await spans.reader.files(place)
      expect(files.map((one) => [one.name, one.type, one.data.byteLength]))
        .toEqual([['a.png', 'image/png', 0], ['b', file.type, 0]])
      const [found] = await spans.reader.files(place, 'a.png')
      expect(Buffer.compare(found!.data, file.data)).toBe(0)
      expect(await spans.reader.files({ ...place, tenant: newTenant() })).toEqual([])
      expect(await spans.reader.files(place, 'c')).toEqual([])
    })
  })
}

/** The same history for another tenant. */
function inTenant(tenant: string, { requests }: History): History {
  return { tenant,
    requests: requests.map((request) => ({ ...request, tenant,
      spans: request.spans.map((span) => ({ ...span, place: { ...span.place, tenant } })) })
    ) }
}

/** All that a store says of a history is what it comes to. */
async function expectHeads(store: SpanStore, history: History): Promise<void> {
  const heads = headsOf(history)
  const plan = wholePlan(history.tenant)
  const expected = inOrder(plan, heads).map((head) => asSets(head))
  expect((await scanned(store, plan)).map((head) => asSets(head))).toEqual(expected)
  const byPlace = inOrder(plan, await store.heads(heads))
  expect(byPlace.map((head) => asSets(head))).toEqual(expected)
  for (const head of heads) {
    const blocks = await store.blocks(head, head.blocks)
    for (const id of head.blocks) expect(Buffer.from(blocks.get(id)!)).toEqual(blockData(id))
  }
}
