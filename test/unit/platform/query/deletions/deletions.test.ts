/** Deletions of traces by questions: what goes and stays, over failures, deaths and cancels. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../../src/errors.ts'
import { keptMax, openMax } from '../../../../../src/platform/query/deletions/deletion-records.ts'
import type { Plan, SpanHead, SpanStore } from '../../../../../src/platform/index.ts'
import { clockAhead } from '../../../../support/clock-ahead.ts'
import { memorySpans } from '../../../../support/memory-spans.ts'
import { randomSpans } from '../../../../support/random-spans.ts'
import type { RandomSpans } from '../../../../support/random-spans.ts'
import { DeletionHouse } from './deletion-house.ts'

const never = new Promise<never>(() => {})
const given = randomSpans('acme', 40, 3)
const others = randomSpans('other', 10, 3)
const request = { projects: given.projects.map(({ id }) => id),
  conditions: { filter: 'eq(name, "model")' }, asked: { session: [], filter: 'eq(name, "model")' } }

async function opened() {
  const store = memorySpans()
  for (const each of [...given.requests, ...others.requests]) await store.write(each)
  const house = new DeletionHouse(store, [given, others])
  house.limit = 3
  return { store, house, deletions: house.deletions }
}

async function headsOf(store: SpanStore, { tenant, projects }: RandomSpans) {
  const plan: Plan = { tenant, projects: projects.map(({ id }) => id), fromUs: 0, toUs: 2 ** 53,
    order: 'oldest', rootsOnly: false, terms: [], ranges: [], type: null, name: null }
  const found: SpanHead[] = []
  for await (const { heads } of store.scan(plan)) found.push(...heads)
  return found
}

/** The traces of heads, as names. */
function tracesOf(heads: readonly SpanHead[]): readonly string[] {
  return [...new Set(heads.map(({ project, trace }) => `${project} ${trace}`))].toSorted()
}

/** The traces that stay: none of their runs matches. */
async function staying(store: SpanStore, matches: (head: SpanHead) => boolean) {
  const heads = await headsOf(store, given)
  const gone = new Set(tracesOf(heads.filter(matches)))
  return tracesOf(heads).filter((trace) => !gone.has(trace))
}

it('Whole traces go for a run that matches, step by step, and nothing of another tenant',
  async () => {
    const { store, house, deletions } = await opened()
    const stay = await staying(store, ({ name }) => name === 'model')
    const all = tracesOf(await headsOf(store, given))
    const theirs = await headsOf(store, others)
    const { id } = await deletions.create('acme', request)
    await house.idle()
    expect(tracesOf(await headsOf(store, given))).toEqual(stay)
    expect(stay.length).toBeGreaterThan(0)
    expect(await headsOf(store, others)).toEqual(theirs)
    expect(await deletions.get('acme', id)).toMatchObject({ status: 'Completed', error: null,
      traces: all.length - stay.length, matched: expect.any(Number) as number })
    expect(house.removals).toBeGreaterThan(3)
    await expect(deletions.get('other', id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await deletions.records.listed.page()).toEqual([])
  })

it('What arrived after the request stays', async () => {
  const { store, house, deletions } = await opened()
  const times = (await headsOf(store, given)).map(({ arrivedUs }) => arrivedUs).toSorted()
  house.arrivalUs = times[Math.floor(times.length / 2)]!
  const stay = await staying(store,
    ({ name, arrivedUs }) => name === 'model' && arrivedUs < house.arrivalUs)
  await deletions.create('acme', request)
  await house.idle()
  expect(tracesOf(await headsOf(store, given))).toEqual(stay)
})

it('removes runs that were written under a clock that was ahead, also while it is ahead',
  async () => {
    const { store, house, deletions } = await opened()
    const stay = await staying(store, ({ name }) => name === 'model')
    const yearUs = 365 * 86_400e6
    const [first] = given.requests
    await store.write({ ...first!,
      spans: first!.spans.map((span) => ({ ...span, kind: 'patch',
        arrivedUs: house.arrivalUs + yearUs })
      ) })
    await clockAhead(house.env, async () => {
      await deletions.create('acme', request)
      await house.idle()
    })
    expect(tracesOf(await headsOf(store, given))).toEqual(stay)
  })

it('Filters on traces decide as they do in questions', async () => {
  const { store, house, deletions } = await opened()
  const heads = await headsOf(store, given)
  const roots = new Set(heads.filter(({ root, name }) => root === true && name === 'agent')
    .map(({ trace }) => trace))
  const stay = await staying(store, ({ trace, type }) => roots.has(trace) && type === 'llm')
  await deletions.create('acme', { ...request,
    conditions: { type: 'llm', traceFilter: 'eq(name, "agent")' } })
  await house.idle()
  expect(tracesOf(await headsOf(store, given))).toEqual(stay)
})

it.each(Array.from({ length: 6 }, (_, at) => at))(
  'A death in the middle, after %i removals: the next owner goes on',
  async (removals) => {
    const { store, house, deletions } = await opened()
    const stay = await staying(store, ({ name }) => name === 'model')
    house.before = () => house.removals === removals ? never : Promise.resolve()
    const { id } = await deletions.create('acme', request)
    // It comes as far as that, and stands still.
    while (house.removals < removals) await new Promise((resolve) => setImmediate(resolve))
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(await deletions.get('acme', id)).toMatchObject({
      status: removals === 0 ? 'Created' : 'Running',
    })
    house.before = () => Promise.resolve()
    await house.restart()
    await house.idle()
    expect(tracesOf(await headsOf(store, given))).toEqual(stay)
    expect(await deletions.get('acme', id)).toMatchObject({ status: 'Completed' })
  },
)

it('A request whose answer nobody got is done all the same', async () => {
  const { house, deletions } = await opened()
  house.wakes = false
  const { id } = await deletions.create('acme', request)
  await house.restart()
  await house.idle()
  expect(await deletions.get('acme', id)).toMatchObject({ status: 'Completed' })
})

it('A cancelled one stops, keeps what it did, and wakes nobody again', async () => {
  const { store, house, deletions } = await opened()
  const stay = await staying(store, ({ name }) => name === 'model')
  const gate = Promise.withResolvers<void>()
  house.before = () => house.removals === 1 ? gate.promise : Promise.resolve()
  const { id } = await deletions.create('acme', request)
  while (house.removals < 1) await new Promise((resolve) => setImmediate(resolve))
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  const { traces } = await deletions.get('acme', id)
  expect(traces).toBeGreaterThan(0)
  expect(await deletions.cancel('acme', id)).toMatchObject({ status: 'Cancelled' })
  gate.resolve()
  await house.idle()
  expect(await deletions.get('acme', id)).toMatchObject({ status: 'Cancelled', traces })
  expect(house.removals).toBeLessThanOrEqual(2)
  expect(tracesOf(await headsOf(store, given)).length).toBeGreaterThan(stay.length)
  expect(await deletions.records.listed.page()).toEqual([])
  expect(await deletions.cancel('acme', id)).toMatchObject({ status: 'Cancelled' })
})

it('A store that is away is asked again; what would fail again ends it with its sentence',
  async () => {
    const { house, deletions } = await opened()
    let tries = 0
    house.before = async () => {
      if (++tries === 2) throw new HeddleError('unavailable', 'The store is away.')
    }
    const { id } = await deletions.create('acme', request)
    await house.idle()
    expect(tries).toBeGreaterThan(3)
    expect(await deletions.get('acme', id)).toMatchObject({ status: 'Completed', error: null })
    house.before = () => Promise.reject(new HeddleError('invalid', 'It cannot be.'))
    const second = await deletions.create('acme', { ...request, conditions: { type: 'chain' } })
    await house.idle()
    expect(await deletions.get('acme', second.id)).toMatchObject({ status: 'Failed',
      error: 'It cannot be.' })
  })

it('Of a tenant some may be open, and a filter must be readable', async () => {
  const { house, deletions } = await opened()
  house.wakes = false
  const made = []
  for (let no = 0; no < openMax; no++) made.push(await deletions.create('acme', request))
  await expect(deletions.create('acme', request)).rejects.toMatchObject({ code: 'full' })
  expect(await deletions.records.listed.page()).toHaveLength(openMax)
  await deletions.cancel('acme', made[4]!.id)
  await deletions.create('acme', request)
  for (const conditions of [{ filter: 'eq(name' }, { treeFilter: '(' }, { traceFilter: 'x' }]) {
    await expect(deletions.create('other', { ...request, conditions }))
      .rejects.toMatchObject({ code: 'malformed' })
  }
  await house.restart()
  await house.idle()
  expect((await deletions.list('acme')).filter(({ status }) => status === 'Completed'))
    .toHaveLength(openMax)
})

it('Those that ended longest ago are forgotten, and open ones never', async () => {
  const house = new DeletionHouse(memorySpans(), [given])
  const { deletions } = house
  house.wakes = false
  const open = await deletions.create('acme', request)
  for (let no = 0; no < keptMax; no++) {
    house.env.advance(1)
    const { id } = await deletions.create('acme', request)
    await deletions.cancel('acme', id)
  }
  const kept = await deletions.list('acme')
  expect(kept).toHaveLength(keptMax)
  expect(kept.at(-1)).toEqual(open)
})
