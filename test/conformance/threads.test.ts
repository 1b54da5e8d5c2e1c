/** Threads: create, get, update, delete, and what a run does to them. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { nextMillisecond } from '../support/millisecond.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()
const gate = useGates()
const offset = /(Z|[+-]\d\d:\d\d)$/

describe('a new thread', () => {
  it('is idle and empty', async () => {
    const thread = await server.client.threads.create()
    expect(thread).toMatchObject({
      thread_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      created_at: expect.stringMatching(offset),
      updated_at: expect.stringMatching(offset),
      state_updated_at: expect.stringMatching(offset),
      status: 'idle',
      metadata: {},
      values: {},
      interrupts: {},
    })
    expect(await server.client.threads.get(thread.thread_id)).toEqual(thread)
  })

  it('keeps its metadata and its graph id', async () => {
    const thread = await server.client.threads.create({
      graphId: 'echo',
      metadata: { user: 'u1', deep: { a: [1, null] } },
    })
    expect(thread.metadata).toEqual({ user: 'u1', deep: { a: [1, null] }, graph_id: 'echo' })
  })

  it('has the id that was asked for, which is refused a second time with 409', async () => {
    const threadId = randomUUID()
    const first = await server.client.threads.create({ threadId, metadata: { n: 1 } })
    expect(first.thread_id).toBe(threadId)
    await expect(server.client.threads.create({ threadId })).rejects.toMatchObject({ status: 409 })
    expect(await server.client.threads.create({
      threadId,
      ifExists: 'do_nothing',
      metadata: { n: 2 },
    })).toEqual(first)
  })

  it("is the same one if its id, or its assistant's, is written in capitals", async () => {
    const { assistants, runs, threads } = server.client
    const threadId = randomUUID()
    const made = await threads.create({ threadId: threadId.toUpperCase() })
    expect(made.thread_id).toBe(threadId)
    const { assistant_id: assistantId } = await assistants.create({ graphId: 'echo' })
    await runs.wait(threadId.toUpperCase(), assistantId.toUpperCase(), { input: say('hi') })
    expect(await threads.get(threadId)).toMatchObject({ metadata: { assistant_id: assistantId } })
    expect(await threads.search({ ids: [threadId.toUpperCase()] })).toHaveLength(1)
  })

  it('needs no body at all', async () => {
    const answer = await ask(server.url, 'POST', '/threads')
    expect(answer).toMatchObject({ status: 200, body: { status: 'idle', values: {} } })
  })

  it('is created once if many ask for the same id at once', async () => {
    const threadId = randomUUID()
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, () => server.client.threads.create({ threadId })),
    )
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('the metadata of a thread', () => {
  it('has 256 keys at most, besides those that its runs add', async () => {
    const { threads, runs } = server.client
    const full = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`key${n}`, n]))
    const { thread_id: id } = await threads.create({ metadata: full })
    await runs.wait(id, 'echo', { input: say('x') })
    expect((await threads.update(id, { metadata: { key0: 'new' } })).metadata)
      .toMatchObject({ key0: 'new', graph_id: 'echo' })
    await expect(threads.update(id, { metadata: { another: 1 } })).rejects.toThrow('256 keys')
  })

  it('is merged shallowly by an update', async () => {
    const { threads } = server.client
    const created = await threads.create({ metadata: { a: 1, b: { c: 1, d: 1 } } })
    const { thread_id: id } = created
    await nextMillisecond()
    const updated = await threads.update(id, { metadata: { b: { c: 2 }, e: 3 } })
    expect(updated.metadata).toEqual({ a: 1, b: { c: 2 }, e: 3 })
    expect(updated.updated_at > created.updated_at).toBe(true)
    expect(updated.state_updated_at).toBe(created.state_updated_at)
    expect(await threads.get(id)).toEqual(updated)
  })

  it('is updated with an empty answer if asked for', async () => {
    const { threads } = server.client
    const { thread_id: id } = await threads.create()
    expect(await threads.update(id, { metadata: { a: 1 }, returnMinimal: true })).toBeUndefined()
    expect((await threads.get(id)).metadata).toEqual({ a: 1 })
  })

  it('is updated in the order of the requests, even while a run is in progress', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const hold = gate()
    const run = await runs.create(id, 'held', { input: say(`hold ${hold.url}`) })
    await hold.arrived()
    for (let n = 1; n <= 5; n += 1) await threads.update(id, { metadata: { n } })
    expect((await threads.get(id)).metadata).toMatchObject({ n: 5, graph_id: 'held' })
    hold.open()
    await runs.join(id, run.run_id)
    expect((await threads.get(id)).metadata).toMatchObject({ n: 5, graph_id: 'held' })
  })
})

describe('a run', () => {
  it('makes its thread busy, then idle, and leaves values, graph and assistant there', async () => {
    const { assistants, runs, threads } = server.client
    const before = await threads.create({ metadata: { mine: true } })
    await nextMillisecond()
    const id = before.thread_id
    const hold = gate()
    const run = await runs.create(id, 'held', {
      input: say(`hold ${hold.url}`),
      config: { tags: ['mine'] },
    })
    expect(await threads.get(id)).toMatchObject({ status: 'busy' })
    hold.open()
    await runs.join(id, run.run_id)
    const after = await threads.get(id)
    const { assistant_id } = await assistants.get('held')
    expect(after).toMatchObject({
      status: 'idle',
      metadata: { mine: true, graph_id: 'held', assistant_id },
      interrupts: {},
      config: { tags: ['mine'] },
    })
    expect(texts(after.values)).toEqual([`hold ${hold.url}`, 'first', 'held', 'last'])
    expect(Date.parse(after.state_updated_at)).toBeGreaterThan(Date.parse(before.state_updated_at))
  })

  it('that fails leaves the status error and its reason; a later success clears both', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const wait = { input: { topic: 'bad luck' }, raiseError: false }
    await runs.wait(id, 'failing', wait)
    const failed = await threads.get(id)
    expect(failed.status).toBe('error')
    expect(JSON.stringify(failed.error)).toContain('bad luck')
    expect(failed.values).toMatchObject({ log: ['a'] })
    await runs.wait(id, 'failing', { input: { topic: 'calm' } })
    const well = await threads.get(id)
    expect(well.status).toBe('idle')
    expect(well.error ?? null).toBeNull()
  })
})

describe('deleting a thread', () => {
  it('removes it with its runs and its state', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'echo', { input: say('hello') })
    const [run] = await runs.list(id)
    await threads.delete(id)
    await expect(threads.get(id)).rejects.toMatchObject({ status: 404 })
    await expect(threads.getState(id)).rejects.toMatchObject({ status: 404 })
    await expect(threads.getHistory(id)).rejects.toMatchObject({ status: 404 })
    await expect(runs.get(id, run!.run_id)).rejects.toMatchObject({ status: 404 })
    await expect(threads.delete(id)).rejects.toMatchObject({ status: 404 })
    expect(await threads.search({ ids: [id] })).toEqual([])
  })

  it('frees the id: a new thread with that id starts empty', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'echo', { input: say('old') })
    await threads.delete(id)
    expect(await threads.create({ threadId: id })).toMatchObject({ values: {}, status: 'idle' })
    expect(await threads.getHistory(id)).toEqual([])
    expect(texts(await runs.wait(id, 'echo', { input: say('new') }))).toEqual(['new', 'echo: new'])
  })

  it('ends a run that is in progress, and everything else continues', async () => {
    const { runs, threads } = server.client
    for (let n = 0; n < 12; n += 1) {
      const { thread_id: id } = await threads.create()
      const hold = gate()
      await runs.create(id, 'held', { input: say(`hold ${hold.url}`) })
      await hold.arrived()
      await threads.delete(id)
      await hold.left()
      await expect(threads.get(id)).rejects.toMatchObject({ status: 404 })
    }
    const values = await runs.wait(null, 'echo', { input: say('still here') })
    expect(texts(values)).toEqual(['still here', 'echo: still here'])
  })
})

describe('an unknown thread', () => {
  const unknown = randomUUID()
  it.each([
    ['get', () => server.client.threads.get(unknown)],
    ['update', () => server.client.threads.update(unknown, { metadata: {} })],
    ['delete', () => server.client.threads.delete(unknown)],
    ['copy', () => server.client.threads.copy(unknown)],
    ['state', () => server.client.threads.getState(unknown)],
    ['state update', () => server.client.threads.updateState(unknown, { values: {} })],
    ['history', () => server.client.threads.getHistory(unknown)],
    ['runs', () => server.client.runs.list(unknown)],
    ['run', () => server.client.runs.create(unknown, 'echo', { input: say('x') })],
    ['run and wait', () => server.client.runs.wait(unknown, 'echo', { input: say('x') })],
    ['enqueue',
      () =>
        server.client.runs.create(unknown, 'echo', { input: say('x'),
          multitaskStrategy: 'enqueue' })],
    ['join', () => server.client.runs.join(unknown, randomUUID())],
    ['cancel', () => server.client.runs.cancel(unknown, randomUUID())],
  ])('answers 404 to %s', async (_, call) => {
    await expect(call()).rejects.toMatchObject({ status: 404 })
  })
})
