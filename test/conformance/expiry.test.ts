/** Threads that end: by their time to live, or because they are pruned. */

import type { Client } from '@langchain/langgraph-sdk'
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const gate = useGates()

const unknown = randomUUID()
/** A second, in minutes. */
const second = 1 / 60
/** The types of the client have only the other strategy here. */
const keepLatest = 'keep_latest' as 'delete'

const statusOf = async (id: string, query = '') =>
  (await ask(server.url, 'GET', `/threads/${id}${query}`)).status

type Ttl = Parameters<Client['threads']['create']>[0]
const newThread = async (ttl?: NonNullable<Ttl>['ttl']) =>
  (await server.client.threads.create({ ...ttl !== undefined && { ttl } })).thread_id

async function ttlOf(id: string): Promise<unknown> {
  const { body } = await ask(server.url, 'GET', `/threads/${id}?include=ttl`)
  return (body as { ttl: unknown }).ttl
}

/** A thread with two runs, and its history before them. */
async function usedThread() {
  const id = await newThread()
  const { runs, threads } = server.client
  for (const text of ['one', 'two']) await runs.wait(id, 'echo', { input: say(text) })
  return { id, history: await threads.getHistory(id) }
}

describe('the time to live of a thread', () => {
  it('is shown if it is asked for', async () => {
    const { threads } = server.client
    const before = Date.now()
    const id = await newThread(30)
    const ttl = await ttlOf(id) as { expires_at: string }
    expect(ttl).toEqual({ strategy: 'delete', ttl_minutes: 30, expires_at: expect.any(String) })
    expect(Date.parse(ttl.expires_at)).toBeGreaterThanOrEqual(before + 30 * 60_000)
    await threads.update(id, { ttl: { ttl: 1.5, strategy: keepLatest } })
    expect(await ttlOf(id)).toMatchObject({ strategy: 'keep_latest', ttl_minutes: 1.5 })
    await threads.update(id, { metadata: { a: 1 } })
    expect(await ttlOf(id)).toMatchObject({ ttl_minutes: 1.5 })
    expect(await ttlOf(await newThread())).toBeNull()
    expect(await threads.get(id)).not.toHaveProperty('ttl')
  })

  it.each([0, -1, 'soon', 1e9, { ttl: 0 }, { strategy: 'delete' }, { ttl: 1, strategy: 'none' }])(
    'is refused as %j',
    async (ttl) => {
      const id = await newThread()
      expect((await ask(server.url, 'POST', '/threads', { ttl })).status).toBe(422)
      expect((await ask(server.url, 'PATCH', `/threads/${id}`, { ttl })).status).toBe(422)
      expect(await statusOf(id, '?include=life')).toBe(422)
    },
  )

  it('ends the thread: it is found no more, and its id is free', async () => {
    const { threads, runs } = server.client
    const mark = randomUUID()
    const { thread_id: id } = await threads.create({ metadata: { mark } })
    await runs.wait(id, 'echo', { input: say('x') })
    expect(await threads.count({ metadata: { mark } })).toBe(1)
    await threads.update(id, { ttl: second })
    await expect.poll(() => statusOf(id)).toBe(404)
    expect(await threads.count({ metadata: { mark } })).toBe(0)
    expect(await threads.search({ metadata: { mark } })).toEqual([])
    expect(await threads.search({ ids: [id] })).toEqual([])
    await expect(threads.update(id, { metadata: { late: 1 } })).rejects.toThrow()
    await expect(runs.wait(id, 'echo', { input: say('x') })).rejects.toThrow()
    await threads.create({ threadId: id })
    expect(await threads.getHistory(id)).toEqual([])
    expect(await runs.list(id)).toEqual([])
  })

  it('keeps the newest state with the strategy keep_latest', async () => {
    const { threads } = server.client
    const { id, history } = await usedThread()
    await threads.update(id, { ttl: { ttl: second, strategy: keepLatest } })
    await expect.poll(() => ttlOf(id)).toBeNull()
    expect((await threads.getHistory(id)).map(({ checkpoint }) => checkpoint))
      .toEqual([history[0]!.checkpoint])
  })
})

describe('pruning threads', () => {
  it('deletes those that are idle and known, and counts them', async () => {
    const { threads } = server.client
    const [one, other, kept] = [await newThread(), await newThread(), await newThread()]
    const busy = await newThread()
    const hold = gate()
    const { runId } = await startHeld(server.client, busy, hold)
    expect(await threads.prune([one, one, other, busy, unknown])).toEqual({ pruned_count: 2 })
    expect(await Promise.all([one, other, kept, busy].map((id) => statusOf(id))))
      .toEqual([404, 404, 200, 200])
    hold.open()
    await server.client.runs.join(busy, runId)
  })

  it('with keep_latest drops the history; runs stay, and the thread continues', async () => {
    const { runs, threads } = server.client
    const { id, history } = await usedThread()
    const before = await threads.getState(id)
    const { thread_id: copy } = await threads.copy(id)
    expect(await threads.prune([id, unknown], { strategy: 'keep_latest' }))
      .toEqual({ pruned_count: 1 })
    expect(await threads.getState(id)).toEqual(before)
    expect(await threads.getHistory(id)).toEqual([before])
    await expect(threads.getState(id, history[1]!.checkpoint)).rejects.toThrow('404')
    await expect(runs.create(id, 'echo', { checkpointId: history[1]!.checkpoint.checkpoint_id! }))
      .rejects.toThrow('404')
    const listed = await runs.list(id)
    expect(listed).toHaveLength(2)
    expect(texts(await runs.join(id, listed[1]!.run_id))).toEqual(['one', 'echo: one'])
    expect(await threads.getHistory(copy)).toHaveLength(history.length)
    const values = await runs.wait(id, 'echo', { input: say('three') })
    expect(texts(values)).toHaveLength(6)
    const { thread_id: second } = await threads.copy(id)
    expect((await threads.getHistory(second, { limit: 99 })).length)
      .toBe((await threads.getHistory(id, { limit: 99 })).length)
  })

  it('with keep_latest keeps a question, which can be answered', async () => {
    const { runs, threads } = server.client
    const id = await newThread()
    await runs.wait(id, 'nestedask', { input: { topic: 't' } })
    const { interrupts } = await threads.get(id)
    await threads.prune([id], { strategy: 'keep_latest' })
    expect((await threads.get(id)).interrupts).toEqual(interrupts)
    await runs.wait(id, 'nestedask', { command: { resume: 'yes' } })
    expect(await threads.get(id)).toMatchObject({ status: 'idle', interrupts: {} })
  })

  it.each([{}, { thread_ids: [] }, { thread_ids: ['x'] }, { thread_ids: [unknown], strategy: 'x' },
    { thread_ids: Array.from({ length: 1_001 }, () => unknown) }])(
      'refuses what it cannot understand: %#',
      async (body) => {
        expect((await ask(server.url, 'POST', '/threads/prune', body)).status).toBe(422)
      },
    )
})

describe('patching a state', () => {
  it('merges metadata into that of the newest checkpoint, which stays the same', async () => {
    const { runs, threads } = server.client
    const { id, history } = await usedThread()
    await threads.patchState(id, { reviewed: true, by: 'a' })
    await threads.patchState({ configurable: { thread_id: id } }, { by: 'b' })
    const { metadata, ...rest } = await threads.getState(id)
    const [before] = history
    expect(metadata).toEqual({ ...before!.metadata, reviewed: true, by: 'b' })
    expect({ ...rest, metadata: before!.metadata }).toEqual(before)
    expect(await threads.getHistory(id, { metadata: { reviewed: true } })).toHaveLength(1)
    await runs.wait(id, 'echo', { input: say('three') })
    expect((await threads.getState(id)).metadata).not.toHaveProperty('reviewed')
    expect((await threads.getState(id, before!.checkpoint)).metadata).toMatchObject({ by: 'b' })
    const { thread_id: copy } = await threads.copy(id)
    expect(await threads.getHistory(copy, { metadata: { by: 'b' } })).toHaveLength(1)
  })

  it('refuses what it cannot do', async () => {
    const { id } = await usedThread()
    const send = async (thread: string, metadata: unknown) =>
      (await ask(server.url, 'PATCH', `/threads/${thread}/state`, { metadata })).status
    expect(await send(await newThread(), { a: 1 })).toBe(404)
    expect(await send(unknown, { a: 1 })).toBe(404)
    for (const wrong of [undefined, null, [], 'x', { step: 9 }, { long: 'x'.repeat(70_000) }]) {
      expect([wrong, await send(id, wrong)]).toEqual([wrong, 422])
    }
  })
})
