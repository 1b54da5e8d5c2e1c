/** A search across several owners answers like one index with all rows. */

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { AssistantRow, ItemRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../src/errors.ts'
import { askIndex, indexService, indexWire, readMetadataFilter,
  scatteredIndex } from '../../../src/search/index.ts'
import type { AssistantQuery, IndexAnswer, IndexQuestion,
  ThreadQuery } from '../../../src/search/index.ts'
import type { EmbeddedStore } from '../../../src/store/embedded/index.ts'
import { embeddedPlace } from '../../contract/embedded-place.ts'
import { anAssistant, anItem, aThread } from '../../contract/rows.ts'
import { virtualEnv } from '../../support/env.ts'
import { expectAlways } from '../../support/expect-always.ts'

const members = [0, 1, 2].map((number) => ({ id: `m${number}`, address: `10.0.0.${number}` }))
const shards = 6

/** Members that each have a part of the rows; the test changes who owns what. */
class Cluster {
  readonly env = virtualEnv()
  /** By shard, the number of the member; null if nobody owns it. */
  owners: (number | null)[] = [0, 1, 2, 0, 1, 2]
  /** The shards that each member's index covers. */
  covered: number[][] = [[0, 3], [1, 4], [2, 5]]
  readonly stores: readonly EmbeddedStore[]
  readonly asked: { member: number; question: IndexQuestion }[] = []
  /** Called with each question before it is answered. */
  onAsk: (member: number) => Promise<void> | void = () => {}
  #changed = Promise.withResolvers<void>()

  constructor(stores: readonly EmbeddedStore[]) {
    this.stores = stores
  }

  change(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** Resolves when it asked in vain: then it has a timer for the next try, and one for the end. */
  async waits(): Promise<void> {
    while (this.env.timers() !== 2) await new Promise(setImmediate)
  }

  /** The index of member 0; questions to other members are encoded as bytes. */
  index() {
    const { values } = indexWire.wire
    return scatteredIndex({
      env: this.env,
      own: { answer: (question) => this.answer(0, question) },
      owners: {
        shards,
        self: members[0]!,
        ownerOf: (shard) => {
          const owner = this.owners[shard] ?? null
          return owner === null ? undefined : { member: members[owner]!, epoch: 1 }
        },
        changed: () => this.#changed.promise,
      },
      ask: async ({ id }, question) => {
        const service = indexService({ answer: (each) => this.answer(Number(id[1]), each) })
        const answer = await service.answer(values.decode(values.encode(question)) as IndexQuestion)
        return values.decode(values.encode(answer)) as IndexAnswer
      },
    })
  }

  async answer(member: number, question: IndexQuestion): Promise<IndexAnswer> {
    this.asked.push({ member, question })
    await this.onAsk(member)
    const covered = [...this.covered[member]!]
    return { ...await askIndex(this.stores[member]!, question), covered }
  }
}

const places = [...members, 'whole'].map(() => embeddedPlace())
let stores: EmbeddedStore[]
let whole: EmbeddedStore
beforeAll(async () => {
  stores = await Promise.all(places.map((place) => place.open() as Promise<EmbeddedStore>))
  whole = stores.pop()!
})
afterAll(async () => {
  await Promise.all([...stores, whole].map((store) => store.close()))
  await Promise.all(places.map((place) => place.remove()))
})

type Update = { table: 'thread'; row: ThreadRow } | { table: 'assistant'; row: AssistantRow } | {
  table: 'item'
  row: ItemRow
}

/** Puts each row into the index of its member, and all of them into `whole`. */
async function put(rows: readonly (readonly [member: number, update: Update])[]): Promise<void> {
  await whole.log.append([], rows.map(([, update]) => update))
  await Promise.all(
    stores.map((store, member) =>
      store.log.append([], rows.flatMap(([of, update]) => (of === member ? [update] : [])))
    ),
  )
}

const newest = { sortBy: 'created_at', sortOrder: 'desc', limit: 10, offset: 0 } as const

async function threeThreads(): Promise<{ tenant: string; rows: ThreadRow[] }> {
  const tenant = randomUUID()
  const rows = [0, 1, 2].map((createdAtMs) => aThread({ tenant, createdAtMs }))
  await put(rows.map((row, member) => [member, { table: 'thread', row }]))
  return { tenant, rows }
}

const page = {
  sortOrder: fc.constantFrom('asc' as const, 'desc' as const),
  limit: fc.constantFrom(1, 2, 5, 1_000),
  offset: fc.constantFrom(0, 1, 3, 10, 40),
}

/** Some queries go under a filter of a login. */
const allowed = fc.constantFrom(undefined, undefined, readMetadataFilter({ x: 1 }),
  readMetadataFilter({ $or: [{ x: 2 }, { y: { $contains: 'a' } }] }))

describe('a search across several owners', () => {
  it('of threads equals the search of one index with all rows', async () => {
    const statuses = ['idle', 'busy', 'interrupted', 'error'] as const
    const thread = fc.record({
      member: fc.nat(2),
      status: fc.constantFrom(...statuses),
      hidden: fc.nat(9).map((n) => n === 0),
      createdAtMs: fc.nat(3),
      updatedAtMs: fc.nat(3),
      stateUpdatedAtMs: fc.nat(3),
      threadId: fc.oneof(fc.uuid(), fc.string({ unit: 'binary', minLength: 1, maxLength: 3 })),
      metadataJson: fc.constantFrom('{}', '{"x":1}', '{"x":1,"y":["a"]}'),
    })
    const query: fc.Arbitrary<Omit<ThreadQuery, 'tenant'>> = fc.record({
      ...page,
      sortBy: fc.constantFrom('thread_id', 'status', 'created_at', 'updated_at',
        'state_updated_at'),
      status: fc.constantFrom(undefined, ...statuses),
      metadata: fc.constantFrom(undefined, { x: 1 }, { y: ['a'] }),
      allowed,
    }) as fc.Arbitrary<Omit<ThreadQuery, 'tenant'>>
    const { threads } = new Cluster(stores).index()
    await expectAlways(fc.asyncProperty(
      fc.uniqueArray(thread, { maxLength: 40, selector: ({ threadId }) => threadId }),
      fc.array(query, { minLength: 1, maxLength: 6 }),
      async (rows, queries) => {
        const tenant = randomUUID()
        await put(
          rows.map((
            { member, ...row },
          ) => [member, { table: 'thread', row: aThread({ tenant, ...row }) }]),
        )
        for (const each of queries) {
          expect(await threads.search({ ...each, tenant }))
            .toEqual(await whole.threads.search({ ...each, tenant }))
          expect(await threads.count({ ...each, tenant }))
            .toBe(await whole.threads.count({ ...each, tenant }))
        }
      },
    ), { share: 1 })
  })

  it('of assistants equals the search of one index with all rows', async () => {
    const names = ['', 'a', 'A', 'b', 'ä', '\u{ff5e}', '\u{1f9f5}', '\u{10000}', 'a\u0000b']
    const assistant = fc.record({
      member: fc.nat(2),
      graphId: fc.constantFrom('agent', 'b', '\u{1f9f5}', '\u{ff5e}'),
      name: fc.constantFrom(...names),
      createdAtMs: fc.nat(3),
      updatedAtMs: fc.nat(3),
      metadataJson: fc.constantFrom('{}', '{"x":1}'),
    })
    const query: fc.Arbitrary<Omit<AssistantQuery, 'tenant'>> = fc.record({
      ...page,
      sortBy: fc.constantFrom('assistant_id', 'graph_id', 'name', 'created_at', 'updated_at'),
      graphId: fc.constantFrom(undefined, undefined, 'agent'),
      name: fc.constantFrom(undefined, undefined, 'A'),
      metadata: fc.constantFrom(undefined, { x: 1 }),
      allowed,
    }) as fc.Arbitrary<Omit<AssistantQuery, 'tenant'>>
    const { assistants } = new Cluster(stores).index()
    await expectAlways(
      fc.asyncProperty(fc.array(assistant, { maxLength: 30 }),
        fc.array(query, { minLength: 1, maxLength: 6 }), async (rows, queries) => {
        const tenant = randomUUID()
        await put(
          rows.map((
            { member, ...row },
          ) => [member, { table: 'assistant', row: anAssistant({ tenant, ...row }) }]),
        )
        for (const each of queries) {
          expect(await assistants.search({ ...each, tenant }))
            .toEqual(await whole.assistants.search({ ...each, tenant }))
          expect(await assistants.count({ ...each, tenant }))
            .toBe(await whole.assistants.count({ ...each, tenant }))
        }
      }),
      { share: 1 },
    )
  })

  it('of items equals the search of one index with all rows', async () => {
    const coordinate = fc.constantFrom(-1, 0, 0.5, 1)
    const item = fc.record({
      member: fc.nat(2),
      namespace: fc.array(fc.constantFrom('a', 'a-', 'ä'), { minLength: 1, maxLength: 2 }),
      key: fc.constantFrom('k', '\u{ff5e}', '\u{10000}', 'l', 'm'),
      updatedAtMs: fc.nat(2),
      valueJson: fc.constantFrom('{}', '{"x":1}'),
      vector: fc.option(fc.tuple(coordinate, coordinate), { nil: [] }),
    })
    const query = fc.record({ limit: page.limit, offset: page.offset,
      prefix: fc.constantFrom([], ['a']), filter: fc.constantFrom({}, { x: 1 }),
      vector: fc.constantFrom(undefined, [1, 0.25]) })
    const { items } = new Cluster(stores).index()
    await expectAlways(
      fc.asyncProperty(
        fc.uniqueArray(item, { maxLength: 20,
          selector: ({ namespace, key }) => JSON.stringify([namespace, key]) }),
        fc.array(query, { minLength: 1, maxLength: 4 }),
        async (rows, queries) => {
          const tenant = randomUUID()
          await put(
            rows.map((
              { member, vector, ...row },
            ) => [member, { table: 'item',
              row: anItem({ ...row, tenant, dims: vector.length,
                vectors: Buffer.from(Float32Array.from(vector).buffer) }) }]
            ),
          )
          for (const { vector, ...each } of queries) {
            const search = { ...each, tenant, nowMs: 1, ...vector && { vector } }
            expect(await items.search(search)).toEqual(await whole.items.search(search))
            const listing = { tenant, nowMs: 1, limit: each.limit,
              conditions: [{ matchType: 'suffix' as const, path: ['a'] }].slice(rows.length % 3),
              offset: each.offset, maxDepth: 1 + rows.length % 2 }
            expect(await items.namespaces(listing)).toEqual(await whole.items.namespaces(listing))
          }
        },
      ),
      { share: 1 },
    )
  })

  it('pages through everything without repeating or omitting a row', async () => {
    const tenant = randomUUID()
    // Unevenly distributed, and far more rows than an owner is asked for at a time.
    const memberOf = (index: number) => (index % 7 === 0 ? 1 : index > 2_000 ? 2 : 0)
    const rows = Array.from({ length: 2_500 },
      (_, index) => [memberOf(index), aThread({ tenant, createdAtMs: index >> 4 })] as const)
    await put(rows.map(([member, row]) => [member, { table: 'thread', row }]))
    const { threads } = new Cluster(stores).index()
    const seen: string[] = []
    for (let offset = 0; offset < 3_000; offset += 700) {
      const { rows, total } = await threads.search({ ...newest, tenant, limit: 700, offset })
      expect(total).toBe(2_500)
      seen.push(...rows.map(({ threadId }) => threadId))
    }
    const all = await whole.threads.search({ ...newest, tenant, limit: 5_000 })
    expect(seen).toEqual(all.rows.map(({ threadId }) => threadId))
  })
})

describe('a search', () => {
  it('asks a single owner for just the page if it owns everything', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    cluster.owners = cluster.owners.map(() => 1)
    cluster.covered = [[], [0, 1, 2, 3, 4, 5], []]
    const query = { ...newest, tenant, limit: 7, offset: 2 }
    expect(await cluster.index().threads.search(query)).toEqual({ rows: [], total: 1 })
    expect(cluster.asked).toMatchObject([
      { member: 1, question: { kind: 'thread_search', query: { limit: 7, offset: 2 } } },
    ])
  })

  it('asks each owner for all that may be on the page', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    await cluster.index().threads.search({ ...newest, tenant, limit: 7, offset: 40 })
    expect(cluster.asked.map(({ member }) => member).toSorted()).toEqual([0, 1, 2])
    for (const { question } of cluster.asked) {
      expect(question.query).toMatchObject({ limit: 47, offset: 0 })
    }
  })
})

describe('a shard that is not covered exactly once', () => {
  it('is asked for again once an owner has changed', async () => {
    const { tenant, rows } = await threeThreads()
    const cluster = new Cluster(stores)
    const found = async () => (await answer).rows
    cluster.covered[1] = [1]
    const answer = cluster.index().threads.search({ ...newest, tenant })
    await cluster.waits()
    expect(cluster.asked.length).toBe(3)
    cluster.covered[1] = [1, 4]
    cluster.change()
    expect(await found()).toEqual(rows.toReversed())
    expect(cluster.asked.length).toBe(6)
  })

  it.each([
    ['twice', [2, 5, 1]],
    ['twice while another is not at all', [2, 1]],
  ])('if %s, is asked for again after a pause if no change is announced', async (_, covered) => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    cluster.covered[2] = covered
    const answer = cluster.index().threads.count({ tenant })
    await cluster.waits()
    cluster.env.advance(90)
    expect(cluster.asked.length).toBe(3)
    cluster.covered[2] = [2, 5]
    cluster.env.advance(10)
    expect(await answer).toBe(3)
  })

  it('is asked for again by only one of the searches that wait for it', async () => {
    const { tenant, rows } = await threeThreads()
    const cluster = new Cluster(stores)
    cluster.covered[2] = [2]
    const index = cluster.index()
    const answers = Array.from({ length: 20 },
      (_, offset) => index.threads.search({ ...newest, tenant, offset: offset % 3, limit: 1 }))
    // One timer for the end of each, and one for the next try.
    const wait = () => expect.poll(() => cluster.env.timers()).toBe(21)
    await wait()
    expect(cluster.asked.length).toBe(60)
    cluster.env.advance(100)
    await wait()
    expect(cluster.asked.length).toBe(63)
    cluster.covered[2] = [2, 5]
    cluster.change()
    const found = (await Promise.all(answers)).map((page) => page.rows[0])
    expect(found).toEqual(Array.from({ length: 20 }, (_, index) => rows[2 - index % 3]))
    expect(cluster.asked.length).toBe(123)
  })

  it('is waited for while it has no owner', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    cluster.owners[4] = null
    const answer = cluster.index().threads.count({ tenant })
    await cluster.waits()
    expect(cluster.asked).toEqual([])
    cluster.owners[4] = 1
    cluster.change()
    expect(await answer).toBe(3)
  })

  it('is given up after 20 s, with a sentence', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    cluster.covered[2] = [2]
    const answer = cluster.index().threads.count({ tenant })
    const refused = expect(answer).rejects.toMatchObject({ code: 'unavailable',
      message: expect.stringMatching(/ask again in a moment\.$/) })
    for (let round = 0; round < 200; round++) {
      await cluster.waits()
      cluster.env.advance(100)
    }
    await refused
    expect(cluster.env.timers()).toBe(0)
  })
})

describe('an owner', () => {
  it('that dies before it answers is not waited for: the next owners are asked', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    const silence = new Promise<void>(() => {})
    cluster.onAsk = (member) => (member === 2 ? silence : undefined)
    const answer = cluster.index().threads.count({ tenant })
    await expect.poll(() => cluster.asked.length).toBe(3)
    cluster.owners = [0, 1, 1, 0, 1, 0]
    cluster.covered = [[0, 3, 5], [1, 4, 2], [2, 5]]
    cluster.change()
    await cluster.waits()
    cluster.env.advance(100)
    expect(await answer).toBe(2)
    expect(cluster.asked.slice(3).map(({ member }) => member).toSorted()).toEqual([0, 1])
  })

  it('that cannot be reached is asked again', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    let refused = false
    cluster.onAsk = (member) => {
      if (member !== 1 || refused) return
      refused = true
      throw new HeddleError('unavailable', 'The member at 10.0.0.1 cannot be reached.')
    }
    const answer = cluster.index().threads.count({ tenant })
    await cluster.waits()
    cluster.env.advance(100)
    expect(await answer).toBe(3)
  })

  it('that refuses for good fails the search', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    cluster.onAsk = (member) => {
      if (member === 1) throw new HeddleError('too_large')
    }
    await expect(cluster.index().threads.count({ tenant })).rejects
      .toMatchObject({ code: 'too_large' })
  })

  it('fails the search at once if it is this member itself that cannot answer', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    cluster.onAsk = (member) => {
      if (member === 0) throw new HeddleError('unavailable', 'The store is out of reach.')
    }
    await expect(cluster.index().threads.count({ tenant })).rejects
      .toThrow('The store is out of reach.')
  })

  it('is asked what a caller may see by names that the version before refuses', async () => {
    const { tenant, rows } = await threeThreads()
    const cluster = new Cluster(stores)
    const { threads, assistants, crons } = cluster.index()
    const allowed = readMetadataFilter({})
    const query = { ...newest, tenant, allowed, updatedAfterMs: -1 }
    expect((await threads.search(query)).rows).toEqual(rows.toReversed())
    expect(await threads.count(query)).toBe(3)
    await Promise.all([assistants.search(query), assistants.count(query), crons.search(query),
      crons.count(query)])
    const names = new Set(cluster.asked.map(({ question }) => question.kind))
    expect([...names].toSorted()).toEqual(['assistant_seen', 'assistant_seen_count', 'cron_seen',
      'cron_seen_count', 'thread_seen', 'thread_seen_count'])
    const unknown = { kind: 'thread_newer', query } as never as IndexQuestion
    const service = indexService({ answer: (each) => cluster.answer(1, each) })
    const encoded = async () => indexWire.wire.values.encode(await service.answer(unknown))
    await expect(encoded()).rejects.toThrow()
  })

  it('whose shards change while a distant page is read is asked from the start', async () => {
    const tenant = randomUUID()
    const rows = Array.from({ length: 2_400 }, (_, createdAtMs) => aThread({ tenant, createdAtMs }))
    await put(rows.map((row, index) => [index % 2, { table: 'thread', row }]))
    const cluster = new Cluster(stores)
    cluster.onAsk = () => {
      if (cluster.asked.length === 4) cluster.covered = [[0, 3, 5], [1, 4], [2]]
    }
    const answer = cluster.index().threads.search({ ...newest, tenant, offset: 2_200 })
    await cluster.waits()
    cluster.env.advance(100)
    expect((await answer).rows).toEqual(rows.slice(190, 200).toReversed())
    expect(
      cluster.asked.filter(({ question }) => (question.query as ThreadQuery).offset === 0).length,
    ).toBe(6)
  })
})

describe('what a tenant uses', () => {
  it('is the sum of what all owners tell', async () => {
    const { tenant } = await threeThreads()
    const assistant = anAssistant({ tenant, storedBytes: 5 })
    await put([[1, { table: 'assistant', row: assistant }]])
    expect(await new Cluster(stores).index().use(tenant)).toEqual(await whole.use(tenant))
    expect(await whole.use(tenant)).toEqual({ threads: 3, bytes: 5, runs: 0, delayedRuns: 0,
      crons: 0 })
  })

  it('leaves out an owner that fails, or is silent for a second', async () => {
    const { tenant } = await threeThreads()
    const cluster = new Cluster(stores)
    const silence = Promise.withResolvers<void>()
    cluster.onAsk = (member) => {
      if (member === 1) throw new HeddleError('internal')
      return member === 2 ? silence.promise : undefined
    }
    const used = cluster.index().use(tenant)
    await expect.poll(() => cluster.env.timers(), { interval: 5 }).toBe(1)
    cluster.env.advance(1_000)
    expect((await used).threads).toBe(1)
    silence.resolve()
  })
})
