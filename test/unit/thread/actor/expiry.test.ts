/** Threads with a time to live: they are gone from then on, and never come back. */

import { afterEach, describe, expect, it, vi } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { TimeToLiveRequest } from '../../../../src/search/index.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'
import { readThread } from '../../../support/thread-reader.ts'

const minuteMs = 60_000
const tenMinutes: TimeToLiveRequest = { strategy: 'delete', minutes: 10 }
const found = { tenant: 't', sortBy: 'created_at', sortOrder: 'desc', limit: 99,
  offset: 0 } as const

afterEach(() => void vi.restoreAllMocks())

async function pass(house: ThreadHouse, minutes: number): Promise<void> {
  house.env.advance(minutes * minuteMs)
  for (let n = 0; n < 3; n++) await settled()
}

const make = (house: ThreadHouse, timeToLive?: TimeToLiveRequest) =>
  house.client.create('t', { threadId: 'x', metadata: {}, ifExists: 'raise', supersteps: [],
    ...timeToLive && { timeToLive } })

/** What callers see of the thread, by every call that could show it. */
async function seen(house: ThreadHouse): Promise<string[]> {
  const { client } = house
  const calls = {
    get: client.get('t', 'x'),
    patch: client.patch('t', 'x', { late: true }),
    run: client.startRun('t', 'x', house.run({ ifMissing: 'reject' })),
    runs: client.listRuns({ tenant: 't', threadId: 'x', limit: 1, offset: 0 }),
    copy: client.copy('t', 'x'),
    delete: client.delete('t', 'x'),
  }
  const outcomes = await Promise.allSettled(Object.values(calls))
  const names = Object.keys(calls).filter((_, i) => outcomes[i]!.status === 'fulfilled')
  const { total } = await client.search(found, () => {})
  return total === 0 ? names : [...names, 'search']
}

const isInStore = (house: ThreadHouse) =>
  house.log.updates.findLast((update) => update.table === 'thread')?.row.deleted === false

describe('a thread with a time to live', () => {
  it('is there until its time, and gone from then on', async () => {
    const house = new ThreadHouse()
    expect((await make(house, tenMinutes)).row.timeToLive).toEqual({ ...tenMinutes,
      expiresAtMs: house.env.nowMs() + 10 * minuteMs })
    await pass(house, 9.99)
    expect(await house.client.count({ tenant: 't' })).toBe(1)
    expect(isInStore(house)).toBe(true)
    await pass(house, 0.01)
    expect(isInStore(house)).toBe(false)
    expect(await seen(house)).toEqual([])
    await pass(house, 60)
    expect(await seen(house)).toEqual([])
  })

  it('is gone before anybody has deleted it, and while it sleeps', async () => {
    const house = new ThreadHouse()
    await make(house, tenMinutes)
    await pass(house, 5)
    house.restart()
    house.dueWakes!.close()
    await pass(house, 5)
    expect(isInStore(house)).toBe(true)
    expect(await seen(house)).toEqual([])
  })

  it('is deleted in the end if it sleeps, also after a restart', async () => {
    const house = new ThreadHouse()
    await make(house, tenMinutes)
    await pass(house, 5)
    house.restart()
    house.dueWakes!.note(0)
    await pass(house, 1)
    expect(house.activations.size).toBe(0)
    await pass(house, 4)
    expect(isInStore(house)).toBe(false)
    expect(await seen(house)).toEqual([])
  })

  it('begins anew when it is changed, and not when the thread is used', async () => {
    const house = new ThreadHouse()
    await make(house, tenMinutes)
    await pass(house, 9)
    await house.runOnce('x', 'a')
    await house.client.patch('t', 'x', { a: 1 })
    await house.client.patch('t', 'x', {}, { strategy: 'delete', minutes: 3 })
    await pass(house, 2)
    expect((await house.client.get('t', 'x')).row.metadataJson).toContain('"a":1')
    await pass(house, 1)
    expect(await seen(house)).toEqual([])
  })

  it('outlasts its runs, so that clients get their results', async () => {
    const house = new ThreadHouse()
    await make(house, tenMinutes)
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await pass(house, 30)
    expect((await house.client.get('t', 'x')).row.status).toBe('busy')
    house.host.end(house.host.only)
    await settled()
    expect(await house.client.joinRun('t', 'x', run.runId)).toBe('{}')
    await pass(house, 0.9)
    expect((await house.client.get('t', 'x')).row.status).toBe('idle')
    await pass(house, 0.1)
    expect(await seen(house)).toEqual([])
  })

  it('takes no edit that ends after its time', async () => {
    const house = new ThreadHouse()
    await house.client.create('t', { threadId: 'x', metadata: { graph_id: 'agent' },
      ifExists: 'raise', supersteps: [], timeToLive: { strategy: 'delete', minutes: 0.2 } })
    const update = { values: '{}', command: null, asNode: null }
    const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
    const refused = expect(edited).rejects.toMatchObject({ code: 'not_found' })
    await settled()
    const edit = house.host.only
    await pass(house, 0.1)
    void house.host.step(edit, 'late')
    // The clock is set forward: the thread is hidden, and not deleted yet.
    const nowMs = house.env.nowMs.bind(house.env)
    const clock = vi.spyOn(house.env, 'nowMs').mockImplementation(() => nowMs() + minuteMs)
    house.host.end(edit)
    await refused
    clock.mockRestore()
    expect((await house.client.get('t', 'x')).row.head).toBeUndefined()
  })

  it('shows its events to nobody after its time, though it is not deleted yet', async () => {
    const house = new ThreadHouse()
    await make(house, tenMinutes)
    await house.runOnce('x', 'a')
    const before = await readThread(house.client, 'x')
    await settled()
    const nowMs = house.env.nowMs.bind(house.env)
    vi.spyOn(house.env, 'nowMs').mockImplementation(() => nowMs() + 60 * minuteMs)
    const after = await readThread(house.client, 'x')
    await settled()
    expect([before.all.length > 0, after.all]).toEqual([true, []])
    // It is deleted by another clock, which did not jump.
    vi.restoreAllMocks()
    await pass(house, 10)
    expect(after.ends).toEqual(['gone'])
  })

  it('gives its id to a new thread, which has nothing of it', async () => {
    const house = new ThreadHouse()
    const first = await make(house, tenMinutes)
    await house.runOnce('x', 'a')
    house.restart()
    house.dueWakes!.close()
    await pass(house, 10)
    const second = await make(house)
    expect(second.row.branch!.id).not.toBe(first.row.branch!.id)
    expect([second.row.head, second.row.timeToLive]).toEqual([undefined, undefined])
    expect(house.log.purged.map(({ branch }) => branch)).toEqual([first.row.branch])
    await pass(house, 60)
    expect((await house.client.get('t', 'x')).row.branch).toEqual(second.row.branch)
  })

  it('gives its id to a run that makes its thread', async () => {
    const house = new ThreadHouse()
    const first = await make(house, tenMinutes)
    house.dueWakes!.close()
    house.restart()
    house.dueWakes!.close()
    await pass(house, 10)
    await house.startRun('x')
    expect((await house.client.get('t', 'x')).row.branch!.id).not.toBe(first.row.branch!.id)
  })

  it('is not deleted early by a clock that jumps ahead, but not shown either', async () => {
    const house = new ThreadHouse()
    await make(house, tenMinutes)
    const nowMs = house.env.nowMs.bind(house.env)
    const clock = vi.spyOn(house.env, 'nowMs').mockImplementation(() => nowMs() + 1e9)
    await pass(house, 5)
    expect(await seen(house)).toEqual([])
    expect(isInStore(house)).toBe(true)
    clock.mockRestore()
    await expect(house.client.get('t', 'x')).resolves.toMatchObject({ row: { status: 'idle' } })
    await pass(house, 5)
    expect(isInStore(house)).toBe(false)
  })
})

describe('the time to live of the project', () => {
  it('holds for threads that are made after it, also by runs and as copies', async () => {
    const house = new ThreadHouse()
    await make(house)
    house.defaultTimeToLive = tenMinutes
    await house.startRun('y')
    house.host.end(house.host.only)
    await settled()
    const { row: copy } = await house.client.copy('t', 'x')
    await house.client.create('t', { threadId: 'z', metadata: {}, ifExists: 'raise', supersteps: [],
      timeToLive: { strategy: 'delete', minutes: 20 } })
    await pass(house, 15)
    for (const id of ['y', copy.threadId]) {
      await expect(house.client.get('t', id)).rejects.toMatchObject({ code: 'not_found' })
    }
    for (const id of ['x', 'z']) await house.client.get('t', id)
  })

  it('makes no thread while the settings of the deployment are not known', async () => {
    const house = new ThreadHouse()
    await make(house)
    const unknown = new HeddleError('unavailable')
    Object.defineProperty(house, 'defaultTimeToLive', { configurable: true, get: () => {
      throw unknown
    } })
    const asked = { metadata: {}, ifExists: 'raise', supersteps: [] } as const
    await expect(house.client.create('t', { ...asked, threadId: 'y' })).rejects.toThrow(unknown)
    await expect(house.client.copy('t', 'x')).rejects.toThrow(unknown)
    await expect(house.startRun('z')).rejects.toThrow(unknown)
    // A thread that is there needs none.
    await house.startRun('x')
    Object.defineProperty(house, 'defaultTimeToLive', { value: tenMinutes })
    for (const id of ['y', 'z']) {
      await expect(house.client.get('t', id)).rejects.toMatchObject({ code: 'not_found' })
    }
    const { row } = await house.client.create('t', { ...asked, threadId: 'y' })
    expect(row.timeToLive).toMatchObject({ strategy: 'delete' })
    expect((await house.client.copy('t', 'x')).row.timeToLive).toMatchObject({ strategy: 'delete' })
  })

  it('does not hold for the thread of a stateless run', async () => {
    const house = new ThreadHouse()
    house.defaultTimeToLive = tenMinutes
    const { plan } = house.run()
    await house.startRun('y', { ifMissing: 'hidden', plan: { ...plan, temporary: true } })
    const { row } = await house.client.get('t', 'y')
    expect([row.hidden, row.timeToLive]).toEqual([true, undefined])
  })
})
