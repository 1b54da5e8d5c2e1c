/** A copy of a thread as it was at a checkpoint, and a thread without what is not selected. */

import { randomUUID } from 'node:crypto'
import type { ThreadState } from '@langchain/langgraph-sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

type Snapshot = ThreadState & { checkpoint_id: string }

const copyAt = (id: string, checkpoint_id?: string | null) =>
  ask(server.url, 'POST', `/threads/${id}/copy`, { checkpoint_id })

const historyOf = async (id: string) =>
  await server.client.threads.getHistory(id, { limit: 1_000 }) as Snapshot[]

const valuesOf = (states: readonly Snapshot[]) => states.map(({ values }) => values)

const idsOf = (states: readonly Snapshot[]) => states.map(({ checkpoint_id: id }) => id)

describe('a copy at a checkpoint', () => {
  let id = ''
  let all: Snapshot[] = []

  beforeAll(async () => {
    const { runs, threads } = server.client
    id = (await threads.create({ metadata: { topic: 'copies' } })).thread_id
    for (const topic of ['x', 'y']) await runs.wait(id, 'steps', { input: { topic } })
    all = await historyOf(id)
  })

  it('has what the thread was there, at each of them', async () => {
    expect(all).toHaveLength(10)
    for (const [at, state] of all.entries()) {
      const { status, body } = await copyAt(id, state.checkpoint_id)
      expect(status).toBe(200)
      const copy = body as { thread_id: string }
      expect(copy).toMatchObject({ metadata: { topic: 'copies' }, values: state.values,
        status: state.next.length > 0 ? 'interrupted' : 'idle', interrupts: {} })
      const history = await historyOf(copy.thread_id)
      expect(idsOf(history)).toEqual(idsOf(all.slice(at)))
      expect(valuesOf(history)).toEqual(valuesOf(all.slice(at)))
      expect((await server.client.threads.getState(copy.thread_id)).next).toEqual(state.next)
    }
    expect(await historyOf(id)).toEqual(all)
  })

  it('continues there, and a copy of it does too', async () => {
    const { runs, threads } = server.client
    const beforeC = all.find(({ next }) => next[0] === 'c')!
    const { thread_id: copy } = (await copyAt(id, beforeC.checkpoint_id)).body as {
      thread_id: string
    }
    expect(await runs.wait(copy, 'steps', { input: null }))
      .toMatchObject({ log: [...(beforeC.values as { log: string[] }).log, 'c:y'] })
    expect(await runs.wait(copy, 'steps', { input: { topic: 'z' } }))
      .toMatchObject({ log: expect.arrayContaining(['c:y', 'a:z', 'c:z']) })
    const states = await historyOf(copy)
    expect(states.length).toBeGreaterThan(all.indexOf(beforeC))
    for (const older of [states[0]!, states[3]!, all.at(-1)!]) {
      const { thread_id: again } = (await copyAt(copy, older.checkpoint_id)).body as {
        thread_id: string
      }
      const at = idsOf(states).indexOf(older.checkpoint_id)
      expect(idsOf(await historyOf(again))).toEqual(idsOf(states.slice(at)))
    }
    await threads.delete(id)
    expect(await historyOf(copy)).toEqual(states)
  })

  it('asks again what was asked there', async () => {
    const { runs, threads } = server.client
    const { thread_id: asking } = await threads.create()
    await runs.wait(asking, 'ask', { input: { question: 'q' } })
    const [waiting] = await historyOf(asking)
    const head = (await copyAt(asking, waiting!.checkpoint_id)).body as { thread_id: string }
    expect(head).toMatchObject({ status: 'interrupted' })
    expect((await threads.getState(head.thread_id)).tasks[0]!.interrupts).toHaveLength(1)
    await runs.wait(asking, 'ask', { command: { resume: 'one' } })
    const { thread_id: copy } = (await copyAt(asking, waiting!.checkpoint_id)).body as {
      thread_id: string
    }
    expect(await runs.wait(copy, 'ask', { input: null })).toHaveProperty('__interrupt__')
    expect(await runs.wait(copy, 'ask', { command: { resume: 'two' } }))
      .toMatchObject({ answers: ['two', 'after'] })
  })

  it('is refused for a checkpoint that is not there', async () => {
    const { thread_id: other } = await server.client.threads.create()
    expect((await copyAt(other, randomUUID())).status).toBe(404)
    expect((await copyAt(other, 'no id')).status).toBe(422)
    expect((await copyAt(randomUUID(), all[0]!.checkpoint_id)).status).toBe(404)
  })

  it('is a copy of all without one, however that is said', async () => {
    const { thread_id: other } = await server.client.threads.create({ graphId: 'steps' })
    await server.client.threads.updateState(other, { values: { topic: 't' } })
    for (const body of [undefined, {}, { checkpoint_id: null }]) {
      const { status, body: copy } = await ask(server.url, 'POST', `/threads/${other}/copy`, body)
      expect([status, copy]).toMatchObject([200, { values: { topic: 't' } }])
    }
  })
})

describe('a thread', () => {
  it('is found where it lives, without being activated', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const { status, body } = await ask(server.url, 'GET', `/threads/${id}/place`)
    expect([status, body]).toEqual([200, { member: expect.any(String), address: expect.any(String),
      shard: expect.any(Number), epoch: expect.any(Number), active: true }])
    const nobody = await ask(server.url, 'GET', `/threads/${randomUUID()}/place`)
    expect(nobody.status).toBe(404)
  })

  it('is shown with the selected fields only', async () => {
    const { thread_id: id } = await server.client.threads.create({ metadata: { a: 1 },
      graphId: 'steps' })
    await server.client.threads.updateState(id, { values: { topic: 't' } })
    const path = `/threads/${id}?select=thread_id&select=metadata`
    const { body } = await ask(server.url, 'GET', path)
    expect(body).toEqual({ thread_id: id, metadata: expect.objectContaining({ a: 1 }) })
    expect((await ask(server.url, 'GET', `/threads/${id}?select=values,status`)).body)
      .toEqual({ status: 'interrupted', values: { topic: 't', log: [] } })
    expect((await ask(server.url, 'GET', `/threads/${id}?select=status&include=ttl`)).body)
      .toEqual({ status: 'interrupted', ttl: null })
    expect((await ask(server.url, 'GET', `/threads/${id}?select=secret`)).status).toBe(422)
  })
})
