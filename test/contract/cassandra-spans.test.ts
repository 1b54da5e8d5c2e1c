/** Spans in Cassandra keep what every store promises, and what only this store does. */

import { randomUUID } from 'node:crypto'

import { Client } from 'cassandra-driver'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { noFields, termOf } from '../../src/platform/index.ts'
import type { Block, DocumentPort, Plan, SpanFields, SpanHead, SpanPlace, SpansOfRequest, SpanStore,
  SpanWrite, Term, Uuid } from '../../src/platform/index.ts'
import { filedStartUs } from '../../src/platform/spans/trace-place.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { cassandraSpanPlace } from './cassandra-span-place.ts'
import type { CassandraSpanPlace } from './cassandra-span-place.ts'
import { memoryCatalogs } from '../support/memory-catalogs.ts'
import { isNight } from '../support/repeats.ts'
import { describeDeployments } from './deployments-contract.ts'
import { describeDocumentPort } from './document-port-contract.ts'
import { describeExampleVersions } from './example-versions-contract.ts'
import { describeRecordings } from './recordings-contract.ts'
import { describeSpanPlaces } from './span-places-contract.ts'
import { describeSpanPort } from './span-port-contract.ts'
import { describeSpanRemoval } from './span-removal-contract.ts'
import { describeStatistics } from './statistics-contract.ts'

const cassandra = await cassandraForTests()
const tenant = randomUUID()
const beganUs = Date.UTC(2026, 10, 26, 12) * 1_000

/** The documents of a store, as plain functions. */
function bound(store: SpanStore): DocumentPort {
  return {
    putDocuments: (...args) => store.putDocuments(...args),
    getDocuments: (...args) => store.getDocuments(...args),
    listDocuments: (...args) => store.listDocuments(...args),
    deleteDocuments: (...args) => store.deleteDocuments(...args),
    dropDocuments: (...args) => store.dropDocuments(...args),
  }
}

describe.skipIf(!cassandra)('spans in Cassandra', () => {
  /** A span that is to expire, which lasts a while. */
  const brief = { span: aSpan({ project: randomUUID() }, { terms: [termOf.error] }), liveS: 6 }
  let place: CassandraSpanPlace
  let store: SpanStore
  /** The store of another thread, or of another member. */
  let other: SpanStore

  beforeAll(async () => {
    place = await cassandraSpanPlace(cassandra!)
    store = await place.open('write')
    other = await place.open('read')
    await writeBrief()
  })
  afterAll(() => place?.remove())

  // One store for all: to open one takes longer than most tests.
  const open = async () => ({ writer: store, reader: other, remove: async () => {} })
  describeSpanPort('Cassandra', open)
  describeSpanRemoval('Cassandra', open)
  describeSpanPlaces('Cassandra', open)
  describeDocumentPort('Cassandra', open)
  describeExampleVersions('Cassandra', open)
  describeRecordings('Cassandra', open)
  if (isNight) describeDeploymentsHere()
  describeStatistics('Cassandra', open, { env: systemEnv({ name: 'test' }), pass: () => {} })

  /** Their records are as durable as the log, which has a contract of its own. */
  function describeDeploymentsHere() {
    const catalogs = memoryCatalogs(systemEnv({ level: 'silent' }))
    describeDeployments('Cassandra', async () => {
      const { getDocuments, listDocuments } = bound(await place.open('read'))
      return { catalogs, close: async () => {},
        documents: { ...bound(await place.open('write')), getDocuments, listDocuments } }
    })
  }

  it('are found by a term, however many have none, in both orders', async () => {
    const project = randomUUID()
    const [rare, common] = [termOf.tag('rare'), termOf.tag('common')]
    const spans = Array.from({ length: 1_600 },
      (_, index) =>
        aSpan({ project, startUs: beganUs + index * 30_000_000 }, {
          terms: [...index % 130 === 7 ? [rare] : [], ...index % 2 === 0 ? [common] : []],
        }))
    await writeAll(store, spans)
    for (const order of ['newest', 'oldest'] as const) {
      const all = await headsOf(other, aPlan({ project, order }))
      expect(all.heads.map(({ id }) => id)).toEqual(idsIn(order, spans))
      const found = await headsOf(other, aPlan({ project, order, terms: [rare] }))
      const wanted = spans.filter(({ terms }) => terms.includes(rare))
      expect(found.heads.filter(({ terms }) => terms.includes(rare)).map(({ id }) => id))
        .toEqual(idsIn(order, wanted))
      expect(found.looked).toBeLessThan(500)
      const half = await headsOf(other, aPlan({ project, order, terms: [common] }))
      expect(half.heads.filter(({ terms }) => terms.includes(common))).toHaveLength(800)
    }
  })

  it('go on after a mark without a gap, also where many began at once', async () => {
    const project = randomUUID()
    const spans = Array.from({ length: 700 },
      (_, index) => aSpan({ project, startUs: beganUs + Math.floor(index / 50) }))
    await writeAll(store, spans)
    for (const order of ['newest', 'oldest'] as const) {
      const ids: Uuid[] = []
      for (let after: SpanHead | undefined;;) {
        const { heads } = await headsOf(other, aPlan({ project, order }), { after, limit: 70 })
        if (heads.length === 0) break
        ids.push(...heads.map(({ id }) => id))
        after = heads.at(-1)
      }
      expect(ids).toEqual(idsIn(order, spans))
    }
  })

  it('of several projects are in one order', async () => {
    const projects = [randomUUID(), randomUUID(), randomUUID()]
    const spans = Array.from({ length: 900 },
      (_, index) => aSpan({ project: projects[index % 7 % 3]!, startUs: beganUs + index * 1_000 }))
    await writeAll(store, spans)
    const { heads, looked } = await headsOf(other, { ...aPlan({ project: projects[0]! }),
      projects })
    expect(heads.map(({ id }) => id)).toEqual(idsIn('newest', spans))
    expect(looked).toBe(900)
  })

  it('are roots by the index', async () => {
    const project = randomUUID()
    const spans = Array.from({ length: 800 },
      (_, index) =>
        aSpan({ project, startUs: beganUs + index * 1_000 }, {
          fields: { root: index % 40 === 0 },
        }))
    await writeAll(store, spans)
    const { heads, looked } = await headsOf(other, { ...aPlan({ project }), rootsOnly: true })
    expect(heads.filter(({ root }) => root)).toHaveLength(20)
    expect(looked).toBeLessThan(200)
  })

  it('keep two operations that differ only in what is not in their block', async () => {
    const project = randomUUID()
    const at = aSpan({ project }).place
    const patch = (fields: Partial<SpanFields>, arrivedUs: number) =>
      ({ ...aSpan(at, { fields }), kind: 'patch', arrivedUs, block: 7n }) as const
    await store.write(request([patch({ endUs: 5, name: 'one' }, 1), patch({ endUs: 6 }, 2)]))
    await store.write(request([patch({ endUs: 5, name: 'one' }, 1)]))
    expect(await other.heads([at])).toMatchObject([{ name: 'one', endUs: 6, blocks: [7n] }])
  })

  it('of a removed trace stay away when operations come late, at another member as well',
    async () => {
      const project = randomUUID()
      const [trace, kept] = [v7(), v7()]
      const spans = Array.from({ length: 20 },
        (_, index) =>
          aSpan({ project, trace: index % 2 === 0 ? trace : kept, startUs: beganUs + index }))
      const block = aBlock(trace, 'x')
      await store.write({ ...request(spans), blocks: [block] })
      await store.remove(tenant, { kind: 'traces', traces: [spans[0]!.place] })
      const late = aSpan({ project, trace, startUs: beganUs + 3_600_000_000 })
      const again = await place.open('write')
      await again.write({ ...request([late, spans[0]!]), blocks: [block] })
      for (const each of [store, other]) {
        const { heads } = await headsOf(each, aPlan({ project }))
        expect(new Set(heads.map((head) => head.trace))).toEqual(new Set([kept]))
        expect(heads).toHaveLength(10)
        expect(await each.heads([late.place, spans[0]!.place])).toEqual([])
        expect((await each.locate(tenant, [late.place.id, spans[1]!.place.id])).length).toBe(1)
        expect(await slicesOf(each.trace(late.place))).toEqual([])
      }
    })

  // Before the next one, which counts all rows.
  it('live as long as their project says', async () => {
    const { span } = brief
    const block = aBlock(span.place.trace, 'b')
    // What was written a moment later may live a second longer.
    await expect.poll(() => other.heads([span.place])).toEqual([])
    await expect.poll(() => other.locate(tenant, [span.place.id])).toEqual([])
    await expect.poll(() => other.blocks(span.place, [block.id])).toEqual(new Map())
    await expect.poll(() => other.files(span.place, 'f')).toEqual([])
  })

  it('leave no row behind when their project is removed', async () => {
    const project = randomUUID()
    const trace = v7()
    const spans = Array.from({ length: 520 },
      (_, index) => aSpan({ project, trace, startUs: beganUs + index * 60_000_000 }))
    const elsewhere = aSpan({ project: randomUUID(), trace })
    const blocks = [aBlock(trace, 'small'), aBlock(trace, 'L'.repeat(700_000))]
    const files = [{ project, owner: spans[0]!.place.id, ownerTrace: trace, name: 'f',
      type: 'text/plain', data: Buffer.alloc(600_000, 1) }]
    const all = await tables()
    await store.write({ ...request(spans.map((span) => ({ ...span, block: blocks[1]!.id }))),
      blocks, files })
    await store.write(request([elsewhere]))
    expect(await store.blocks(spans[0]!.place, blocks.map(({ id }) => id))).toEqual(
      new Map(blocks.map(({ id, data }) => [id, data])),
    )
    expect(await other.files(spans[0]!.place, 'f')).toEqual(files)
    await store.putFeedback([{
      row: { id: v7(), tenant, key: 'k', score: 1, value: null, span: spans[3]!.place.id, trace,
        project, createdUs: 1, modifiedUs: 1, bodyJson: '{}' },
      place: spans[3]!.place,
    }])
    await store.remove(tenant, { kind: 'project', project })
    await store.remove(tenant, { kind: 'project', project: elsewhere.place.project })
    expect(await headsOf(other, aPlan({ project }))).toEqual({ heads: [], looked: 0 })
    const left = await tables()
    // Which hours the other project has, and what is removed.
    expect({ ...left, span_bucket: 0, span_gone: 0 }).toEqual({ ...all, span_bucket: 0,
      span_gone: 0 })
  })

  it('keep the blocks that they share with older spans which are removed', async () => {
    const project = randomUUID()
    const trace = v7()
    const block = aBlock(trace, 'shared')
    const [older, newer] = [0, 1].map((hours) => ({
      ...aSpan({ project, trace, startUs: beganUs + hours * 3_600_000_000 }),
      block: block.id,
    }))
    await store.write({ ...request([older!, newer!]), blocks: [block] })
    await store.remove(tenant, { kind: 'older', project, beforeUs: newer!.place.startUs })
    expect((await slicesOf(other.trace(newer!.place))).map(({ id }) => id)).toEqual([
      newer!.place.id,
    ])
    expect((await other.blocks(newer!.place, [block.id])).size).toBe(1)
    await store.remove(tenant, { kind: 'older', project, beforeUs: newer!.place.startUs + 1 })
    expect((await other.blocks(newer!.place, [block.id])).size).toBe(0)
  })

  it('of OpenTelemetry are found by the id of their trace alone', async () => {
    const project = randomUUID()
    const trace = randomUUID()
    const span = aSpan({ project, trace, traceStartUs: filedStartUs(trace),
      id: '00000000-0000-0000-1234-567890abcdef' })
    await store.write(request([span]))
    const guess = { ...span.place, id: trace, startUs: 0 }
    expect((await slicesOf(other.trace(guess))).map(({ id }) => id)).toEqual([span.place.id])
    expect(await other.locate(tenant, [span.place.id])).toEqual([span.place])
  })

  /** Writes what expires. */
  async function writeBrief(): Promise<void> {
    const { span, liveS } = brief
    const block = aBlock(span.place.trace, 'b')
    const file = { project: span.place.project, owner: span.place.id, ownerTrace: span.place.trace,
      name: 'f', type: 't', data: Buffer.alloc(600_000) }
    await store.write({ ...request([{ ...span, block: block.id }]), blocks: [block], files: [file],
      timeToLiveS: new Map([[span.place.project, liveS]]) })
    expect(await other.heads([span.place])).toHaveLength(1)
  }

  /** Number of rows of the tenant by table. */
  async function tables(): Promise<Record<string, number>> {
    const client = new Client({ contactPoints: [...cassandra!.contactPoints],
      localDataCenter: cassandra!.dataCenter })
    try {
      const names = ['span_head', 'span_bucket', 'span_gone', 'trace_block', 'span_location',
        'span_file', 'feedback', 'feedback_order', 'log_chunk']
      return Object.fromEntries(await Promise.all(names.map(async (name) => {
        const key = name === 'log_chunk' ? 'row_key' : 'tenant'
        const { rows } = await client.execute(`SELECT ${key} FROM ${place.keyspace}.${name}`, [], {
          fetchSize: 100_000,
        })
        return [name, rows.filter((row) => String(row[key]).includes(tenant)).length]
      })))
    } finally {
      await client.shutdown()
    }
  }
})

function aSpan(at: Partial<SpanPlace> & { readonly project: Uuid },
  { fields = {}, terms = [] }: { readonly fields?: Partial<SpanFields>;
    readonly terms?: readonly Term[] } = {}): SpanWrite {
  const { id = v7(), startUs = beganUs } = at
  return {
    place: { tenant, startUs, id, trace: id, traceStartUs: beganUs, ...at },
    kind: 'post',
    arrivedUs: 1,
    fields: { ...noFields, ...fields },
    terms,
    indexed: terms.length,
    block: null,
  }
}

function aBlock(trace: Uuid, text: string): Block {
  return { id: BigInt(text.length), trace, traceStartUs: beganUs, data: Buffer.from(text) }
}

function request(spans: readonly SpanWrite[]): SpansOfRequest {
  return { tenant, spans, blocks: [], files: [], timeToLiveS: new Map() }
}

async function writeAll(store: SpanStore, spans: readonly SpanWrite[]): Promise<void> {
  for (let at = 0; at < spans.length; at += 500) {
    await store.write(request(spans.slice(at, at + 500)))
  }
}

function aPlan(
  { project, order = 'newest', terms = [] }: { readonly project: Uuid;
    readonly order?: Plan['order']; readonly terms?: readonly Term[] },
): Plan {
  return { tenant, projects: [project], fromUs: 0, toUs: Number.MAX_SAFE_INTEGER, order,
    rootsOnly: false, terms, ranges: [], type: null, name: null }
}

async function headsOf(store: SpanStore, plan: Plan,
  { after, limit = Infinity }: { readonly after?: SpanHead | undefined; readonly limit?: number } =
    {}) {
  const heads: SpanHead[] = []
  let looked = 0
  for await (const slice of store.scan(plan, after)) {
    heads.push(...slice.heads)
    looked += slice.looked
    if (heads.length >= limit) break
  }
  return { heads: heads.slice(0, limit), looked }
}

async function slicesOf(slices: AsyncIterable<readonly SpanHead[]>): Promise<readonly SpanHead[]> {
  const all: SpanHead[] = []
  for await (const slice of slices) all.push(...slice)
  return all
}

function idsIn(order: Plan['order'], spans: readonly SpanWrite[]): readonly Uuid[] {
  const oldest = spans.map(({ place }) => place)
    .toSorted((a, b) => a.startUs - b.startUs || (a.id < b.id ? -1 : 1)).map(({ id }) => id)
  return order === 'oldest' ? oldest : oldest.toReversed()
}
