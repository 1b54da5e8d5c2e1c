/** Pages of runs: where they begin and end, and how long they look. */

import { expect, it } from 'vitest'

import type { RunsQuestion } from '../../../../src/platform/query/question.ts'
import { noFields } from '../../../../src/platform/index.ts'
import type { SpanHead, SpanStore } from '../../../../src/platform/index.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import { matchingHeads } from '../../../../src/platform/query/page.ts'
import { payloadsIn } from '../../../../src/platform/query/payload/payloads.ts'
import { virtualEnv } from '../../../support/env.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { projectOf, randomSpans, randomSpansBeganMs } from '../../../support/random-spans.ts'

interface Answer {
  readonly runs: readonly { readonly id: string; readonly start_time: string }[]
  readonly cursors: { readonly next: string | null }
  readonly items: readonly { readonly id: string }[]
  readonly next_cursor: string | null
}

const given = randomSpans('acme', 20, 7)
const spans = given.requests.flatMap((request) => request.spans)
const all = new Set(spans.map(({ place }) => place.id))

async function opened({ store = memorySpans(), env = virtualEnv(randomSpansBeganMs) }: {
  readonly store?: SpanStore
  readonly env?: VirtualEnv
} = {}) {
  for (const request of given.requests) await store.write(request)
  const handlers = queryHandlers({ store, env })
  const question: RunsQuestion = { tenant: 'acme', projects: given.projects, order: 'newest',
    limit: 10, version: 1, select: ['id'] }
  const ask = async (more: Partial<RunsQuestion> = {}) =>
    read(await handlers.runs({ ...question, ...more }))
  return { store, env, handlers, question, ask }
}

function read(answer: Uint8Array): Answer {
  return JSON.parse(Buffer.from(answer).toString()) as Answer
}

it('Pages neither repeat nor skip what was there, while more arrives.', async () => {
  const { ask, store } = await opened()
  const late = [...randomSpans('acme', 30, 8).requests]
  const found: string[] = []
  let next: string | null | undefined
  do {
    const { runs, cursors } = await ask({ cursor: next ?? undefined })
    found.push(...runs.map(({ id }) => id).filter((id) => all.has(id)))
    const request = late.pop()
    const fresh = request?.spans.filter(({ place }) => !all.has(place.id)) ?? []
    if (request !== undefined) await store.write({ ...request, spans: fresh })
    next = cursors.next
  } while (next !== null)
  expect(found.length).toBe(all.size)
  expect(new Set(found)).toEqual(all)
})

it('A page that ends where all ends has no cursor.', async () => {
  const { ask } = await opened()
  const { runs, cursors } = await ask({ limit: all.size + 1 })
  expect(runs).toHaveLength(all.size)
  expect(cursors).toEqual({ next: null, prev: null })
})

it.each<[string, Partial<RunsQuestion>]>([
  ['another filter', { filter: 'eq(name, "agent")' }],
  ['another order', { order: 'oldest' }],
  ['another project', { projects: [given.projects[0]!] }],
  ['the other API', { version: 2 }],
])('A cursor of %s is refused.', async (_, other) => {
  const { ask } = await opened()
  const { cursors: { next } } = await ask()
  await expect(ask({ ...other, cursor: next! })).rejects.toMatchObject({ code: 'malformed' })
})

it('A cursor of another tenant and one that is none are refused.', async () => {
  const { ask } = await opened()
  const { cursors: { next } } = await ask()
  await expect(ask({ tenant: 'other', cursor: next! })).rejects
    .toMatchObject({ code: 'malformed' })
  await expect(ask({ cursor: 'no cursor' })).rejects.toMatchObject({ code: 'malformed' })
})

it('A filter that cannot be read is refused before anything is looked at.', async () => {
  const { ask, handlers } = await opened()
  const filter = 'eq(colour, "x")'
  await expect(ask({ filter })).rejects.toMatchObject({ code: 'malformed' })
  await expect(ask({ treeFilter: filter })).rejects.toMatchObject({ code: 'malformed' })
  expect(await handlers.validate({ filter })).toContain('at character 4')
  expect(await handlers.validate({ filter: 'eq(name, "x")' })).toBeNull()
})

it('Spans that are too old for their project are not shown.', async () => {
  const { ask, env, handlers } = await opened()
  const projects = given.projects.map(({ id }, index) => projectOf(id, index === 0 ? 1 : 2))
  const young = new Set(spans.filter(({ place }) => place.project === projects[1]!.id)
    .map(({ place }) => place.id))
  env.advance(25 * 3600 * 1000)
  const ids = ({ runs }: Answer) => new Set(runs.map(({ id }) => id))
  expect(ids(await ask({ projects, limit: 1000 }))).toEqual(young)
  expect(ids(await ask({ projects, ids: [...all], limit: 1000 }))).toEqual(young)
  const old = spans.find(({ place }) => place.project === projects[0]!.id)!.place
  expect(ids(await ask({ projects, trace: old.trace }))).toEqual(new Set())
  await handlers.close(null)
})

/** A store whose every slice takes this long, and looks at so many heads. */
function slow(store: SpanStore, env: VirtualEnv, ms: number, looked: number): SpanStore {
  return {
    ...store,
    async *scan(plan, after) {
      for await (const { heads } of store.scan(plan, after)) {
        for (const head of heads) {
          env.advance(ms)
          yield { heads: [head], looked }
        }
      }
    },
  }
}

it.each([['time', 150, 1], ['heads', 0, 3000]])(
  'The first API ends a page when its %s is used up, even an empty one.',
  async (_, ms, looked) => {
    const env = virtualEnv(randomSpansBeganMs)
    const { ask } = await opened({ env, store: slow(memorySpans(), env, ms, looked) })
    const filter = 'eq(name, "nobody")'
    const first = await ask({ filter })
    expect(first.runs).toEqual([])
    let next = first.cursors.next
    let pages = 1
    expect(next).not.toBeNull()
    while (next !== null && pages < 100) {
      ;({ cursors: { next } } = await ask({ filter, cursor: next }))
      pages++
    }
    expect(pages).toBe(Math.ceil(all.size / (ms > 0 ? 14 : 17)))
  },
)

it('The second API goes on to the first item.', async () => {
  const env = virtualEnv(randomSpansBeganMs)
  const { ask } = await opened({ env, store: slow(memorySpans(), env, 100, 1) })
  const oldest = (await ask({ order: 'oldest', limit: 1 })).runs[0]!.id
  const { items, next_cursor: next } = await ask({ version: 2, filter: `eq(id, "${oldest}")` })
  expect(items.map(({ id }) => id)).toEqual([oldest])
  expect(next).not.toBeNull()
})

it('The second API gives up after ten seconds.', async () => {
  const env = virtualEnv(randomSpansBeganMs)
  const { ask } = await opened({ env, store: slow(memorySpans(), env, 400, 1) })
  await expect(ask({ version: 2, filter: 'eq(name, "nobody")' })).rejects
    .toMatchObject({ code: 'invalid', message: expect.stringContaining('narrow the time range') })
})

it('Those who count get every head, or an error.', async () => {
  const { store, question, env } = await opened()
  const parts = { store, env, payloads: payloadsIn(store) }
  const found: SpanHead[] = []
  for await (const heads of matchingHeads(parts, question)) found.push(...heads)
  expect(new Set(found.map(({ id }) => id))).toEqual(all)
  const late = { ...parts, store: slow(store, env, 150, 1) }
  await expect(async () => {
    for await (const heads of matchingHeads(late, question, undefined, { endMs: 300 })) {
      expect(heads).toHaveLength(1)
    }
  }).rejects.toMatchObject({ code: 'invalid' })
})

it('Ids are found without other conditions, and in pages.', async () => {
  const { ask } = await opened()
  const ids = [...all].slice(0, 15)
  const first = await ask({ ids, filter: 'eq(name, "nobody")', limit: 10 })
  const second = await ask({ ids, filter: 'eq(name, "nobody")', limit: 10,
    cursor: first.cursors.next! })
  expect(second.cursors.next).toBeNull()
  expect([...first.runs, ...second.runs].map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
})

it('A trace is shown whole, parents first, whatever the limit and the bounds.', async () => {
  const { ask } = await opened()
  const { trace } = spans.at(-1)!.place
  const own = spans.filter(({ place }) => place.trace === trace)
  const order = new Map(own.filter(({ kind }) => kind === 'post')
    .map(({ place, fields }) => [place.id, fields.dottedOrder!]))
  const { runs, cursors } = await ask({ trace, limit: 1, fromUs: 1, toUs: 2 })
  expect(runs.map(({ id }) => order.get(id))).toEqual([...order.values()].toSorted())
  expect(cursors.next).toBeNull()
})

it('What a tenant may not see is not found.', async () => {
  const { handlers, ask } = await opened()
  const { id, trace, project } = spans[0]!.place
  const run = (tenant: string, projects: RunsQuestion['projects']) =>
    handlers.run({ tenant, projects, id, version: 1 })
  expect(read(await run('acme', given.projects))).toMatchObject({ id })
  const theirs = given.projects.filter((each) => each.id !== project)
  const wrong = [['other', given.projects], ['acme', []], ['acme', theirs]] as const
  for (const [tenant, projects] of wrong) {
    await expect(run(tenant, projects)).rejects.toMatchObject({ code: 'not_found' })
  }
  expect(await handlers.locate({ tenant: 'other', ids: [id] })).toEqual([])
  expect((await ask({ tenant: 'other' })).runs).toEqual([])
  expect((await ask({ tenant: 'other', trace })).runs).toEqual([])
  expect((await ask({ projects: [], trace })).runs).toEqual([])
  expect((await ask({ projects: [], ids: [id] })).runs).toEqual([])
})

it('Questions of one tenant wait for each other, those of another do not.', async () => {
  const store = memorySpans()
  const gate = Promise.withResolvers<void>()
  const scans: string[] = []
  const { handlers, question } = await opened({ store: { ...store, async *scan(plan, after) {
    scans.push(plan.tenant)
    await gate.promise
    yield* store.scan(plan, after)
  } } })
  const asked = Array.from({ length: 6 }, () => handlers.runs(question))
  const other = handlers.runs({ ...question, tenant: 'other' })
  await expect.poll(() => scans.length).toBe(5)
  expect(scans.filter((tenant) => tenant === 'acme')).toHaveLength(4)
  const more = Array.from({ length: 63 }, () => handlers.runs(question))
  await expect(more.at(-1)).rejects.toMatchObject({ code: 'full' })
  gate.resolve()
  await Promise.all([...asked, other, ...more.slice(0, -1)])
})

it('Children of a span are found in its trace, in pages.', async () => {
  const { ask, store } = await opened({
    store: { ...memorySpans(), scan: () => expect.fail('All spans of the project are looked at.') },
  })
  const parent = spans.find(({ fields }) => fields.parent !== null)!.fields.parent!
  const wanted = spans.filter(({ kind, fields }) => kind === 'post' && fields.parent === parent)
  const found: string[] = []
  let next: string | null | undefined
  do {
    const { runs, cursors } = await ask({ parent, limit: 2, cursor: next ?? undefined })
    found.push(...runs.map(({ id }) => id))
    next = cursors.next
  } while (next !== null)
  expect(found.toSorted()).toEqual(wanted.map(({ place }) => place.id).toSorted())
  expect((await ask({ parent: given.projects[0]!.id })).runs).toEqual([])
  await store.close()
})

it('A long question leaves turns to others.', async () => {
  const { ask, store } = await opened()
  const slices = Array.from({ length: 300 }, () => ({ heads: [], looked: 1 }))
  const endless = await opened({ store: { ...store, async *scan() {
    for (let slice = slices.pop(); slice !== undefined; slice = slices.pop()) yield slice
  } } })
  const long = endless.ask({ filter: 'eq(name, "nobody")' })
  let turns = 0
  while (slices.length > 0) {
    await ask({ limit: 1 })
    turns++
  }
  expect((await long).runs).toEqual([])
  expect(turns).toBeGreaterThan(30)
})

it('A filter on more traces than can be looked at is refused.', async () => {
  const { ask } = await opened({ store: { ...memorySpans(), async *scan() {
    for (let index = 0; index < 10_001; index++) {
      const trace = `${spans[0]!.place.id.slice(0, 24)}${String(index).padStart(12, '0')}`
      yield {
        heads: [{ ...noFields, ...spans[0]!.place, id: trace, trace, root: false, arrivedUs: 9e15,
          terms: [], blocks: [], feedback: [] }],
        looked: 1,
      }
    }
  }, async *trace() {
    yield []
  } } })
  await expect(ask({ treeFilter: 'gt(total_tokens, 1)' })).rejects
    .toMatchObject({ code: 'invalid', message: expect.stringContaining('10000 traces') })
  expect((await ask({ treeFilter: 'eq(thread_id, "nobody")' })).runs).toEqual([])
})

it('Few blocks are read at once, and each once.', async () => {
  const memory = memorySpans()
  let [read, now, most] = [0, 0, 0]
  const { ask } = await opened({ store: { ...memory, blocks: async (place, ids) => {
    read += ids.length
    now += ids.length
    most = Math.max(most, now)
    await new Promise((turn) => setImmediate(turn))
    now -= ids.length
    return memory.blocks(place, ids)
  } } })
  expect((await ask({ limit: 1000, select: ['inputs'] })).runs).toHaveLength(all.size)
  expect(read).toBe(given.requests.length)
  expect(most).toBe(4)
})

it('A page does not end where nothing was yielded yet.', async () => {
  const memory = memorySpans()
  const { ask } = await opened({ store: { ...memory, async *scan(plan, after) {
    yield { heads: [], looked: 60_000 }
    yield* memory.scan(plan, after)
  } } })
  expect((await ask()).runs).toHaveLength(10)
})

it('A run that arrived longer ago than its project keeps runs is not found.', async () => {
  const day = 24 * 3_600_000
  const { handlers } = await opened({ env: virtualEnv(randomSpansBeganMs + 30 * day) })
  const { id } = spans[0]!.place
  const run = (days: number) =>
    handlers.run({ tenant: 'acme', id, version: 1, projects: given.projects.map((each) =>
      projectOf(each.id, days)
    ) })
  expect(read(await run(31))).toMatchObject({ id })
  await expect(run(14)).rejects.toMatchObject({ code: 'not_found' })
})

it('A run that began long ago is kept by its arrival.', async () => {
  const { ask, store } = await opened()
  const [request] = randomSpans('acme', 1, 9).requests
  const arrivedUs = randomSpansBeganMs * 1_000
  const long = 1_000 * 24 * 3_600 * 1e6
  const old = request!.spans.map((span, n) => ({ ...span, arrivedUs,
    place: { ...span.place, id: `${span.place.id.slice(0, 24)}${String(n).padStart(12, '9')}`,
      startUs: span.place.startUs - long } })
  )
  await store.write({ ...request!, spans: old })
  const ids = old.map(({ place }) => place.id)
  const found = async (more: Partial<RunsQuestion>) =>
    (await ask({ limit: 1_000, ...more })).runs.map(({ id }) => id)
  expect(new Set(await found({ ids }))).toEqual(new Set(ids))
  expect(await found({})).toEqual(expect.arrayContaining(ids))
})

it('A search has few words: each looks through all of a payload.', async () => {
  const { ask } = await opened()
  const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ')
  await expect(ask({ text: words(32) })).resolves.toBeDefined()
  for (const each of [{ text: words(33) }, { filter: `search("${words(33)}")` }]) {
    await expect(ask(each)).rejects.toMatchObject({ code: 'malformed' })
  }
  await expect(ask({ text: 'x'.repeat(200) })).resolves.toBeDefined()
  await expect(ask({ text: 'x'.repeat(201) })).rejects.toMatchObject({ code: 'malformed',
    message: 'A word of a search has 200 characters at most.' })
})
