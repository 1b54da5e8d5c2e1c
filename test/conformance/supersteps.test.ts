/** Threads that begin with a state, and threads that begin as a copy of another. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()

describe('a thread created with supersteps', () => {
  const steps = [
    { updates: [{ values: { topic: 'cats' }, asNode: '__input__' }] },
    { updates: [{ values: { topic: 'cats' }, asNode: '__start__' }] },
    { updates: [{ values: { log: ['mine'] }, asNode: 'a' }] },
  ]

  it('is idle and holds the result of the supersteps, applied in order', async () => {
    const thread = await server.client.threads.create({ graphId: 'steps', supersteps: steps })
    expect(thread).toMatchObject({ status: 'idle', values: { topic: 'cats', log: ['mine'] } })
    expect(await server.client.threads.get(thread.thread_id)).toEqual(thread)
    expect(await server.client.threads.getState(thread.thread_id))
      .toMatchObject({ values: { topic: 'cats', log: ['mine'] }, next: ['b'] })
  })

  it('has each superstep in its history', async () => {
    const { thread_id: id } = await server.client.threads.create(
      { graphId: 'steps', supersteps: steps },
    )
    const history = await server.client.threads.getHistory(id)
    expect(history).toHaveLength(3)
    expect(history.map(({ metadata }) => metadata?.source)).toEqual(['update', 'update', 'input'])
    const order = history.map(({ metadata }) => metadata?.step)
    expect(order).toEqual(order.toSorted((a, b) => Number(b) - Number(a)))
  })

  it('takes chat messages and gives them ids', async () => {
    const thread = await server.client.threads.create({
      graphId: 'echo',
      supersteps: [
        { updates: [{ values: {}, asNode: '__input__' }] },
        { updates: [{ values: say('hello'), asNode: '__start__' }] },
        {
          updates: [{ values: { messages: [{ role: 'assistant', content: 'hi' }] },
            asNode: 'echo' }],
        },
      ],
    })
    expect(texts(thread.values)).toEqual(['hello', 'hi'])
    expect((thread.values as { messages: unknown[] }).messages).toMatchObject([
      { type: 'human', id: expect.any(String) },
      { type: 'ai', id: expect.any(String) },
    ])
  })

  it('continues from that state', async () => {
    const { client } = server
    const { thread_id: id } = await client.threads.create({ graphId: 'steps', supersteps: steps })
    expect(await client.runs.wait(id, 'steps', { input: null }))
      .toEqual({ topic: 'cats', log: ['mine', 'b:cats', 'c:cats'] })
  })

  it.each([
    ['no graph id', {}, 'a'],
    ['an unknown graph', { graphId: 'nosuch' }, 'a'],
    ['an unknown node', { graphId: 'steps' }, 'nosuch'],
  ])('is refused for %s, and no thread is left behind', async (_, options, asNode) => {
    const threadId = randomUUID()
    const refused: { status?: number } = await server.client.threads.create({
      ...options,
      threadId,
      supersteps: [{ updates: [{ values: { log: ['x'] }, asNode }] }],
    }).then(() => ({}), (caught: { status: number }) => caught)
    expect(refused.status).toBeOneOf([404, 422])
    await expect(server.client.threads.get(threadId)).rejects.toMatchObject({ status: 404 })
    expect(await server.client.threads.search({ ids: [threadId] })).toEqual([])
  })
})

/** What must be the same in the history of a copy: everything but the thread's own id. */
async function historyOf(threadId: string) {
  const history = await server.client.threads.getHistory(threadId, { limit: 1_000 })
  return JSON.parse(JSON.stringify(history).replaceAll(threadId, 'the thread')) as unknown
}

describe('a copy of a thread', () => {
  async function talked(...words: string[]) {
    const { thread_id: id } = await server.client.threads.create({ metadata: { user: 'u1' } })
    for (const word of words) await server.client.runs.wait(id, 'echo', { input: say(word) })
    return id
  }

  it('has an id of its own, the values, status and metadata, and an equal history', async () => {
    const source = await talked('one', 'two')
    const copy = await server.client.threads.copy(source)
    const original = await server.client.threads.get(source)
    expect(copy.thread_id).not.toBe(source)
    expect(copy).toMatchObject({
      values: original.values,
      status: 'idle',
      metadata: { user: 'u1', graph_id: 'echo' },
    })
    expect(copy).toMatchObject({ config: { configurable: { thread_id: copy.thread_id } } })
    expect(await server.client.threads.get(copy.thread_id)).toEqual(copy)
    expect(await historyOf(copy.thread_id)).toEqual(await historyOf(source))
  })

  it('is independent of its source', async () => {
    const { runs, threads } = server.client
    const source = await talked('one')
    const copy = await threads.copy(source)
    await runs.wait(copy.thread_id, 'echo', { input: say('in the copy') })
    await runs.wait(source, 'echo', { input: say('in the source') })
    expect(texts((await threads.get(source)).values))
      .toEqual(['one', 'echo: one', 'in the source', 'echo: in the source'])
    expect(texts((await threads.get(copy.thread_id)).values))
      .toEqual(['one', 'echo: one', 'in the copy', 'echo: in the copy'])
  })

  it('can be copied again, and outlives its source', async () => {
    const { runs, threads } = server.client
    const source = await talked('one')
    const child = await threads.copy(source)
    await runs.wait(child.thread_id, 'echo', { input: say('two') })
    const grandchild = await threads.copy(child.thread_id)
    const expected = await historyOf(child.thread_id)
    await threads.delete(source)
    await threads.delete(child.thread_id)
    expect(await historyOf(grandchild.thread_id)).toEqual(expected)
    await runs.wait(grandchild.thread_id, 'echo', { input: say('three') })
    expect(texts((await threads.get(grandchild.thread_id)).values))
      .toEqual(['one', 'echo: one', 'two', 'echo: two', 'three', 'echo: three'])
  })

  it('has no runs of its own yet', async () => {
    const source = await talked('one')
    const copy = await server.client.threads.copy(source)
    expect(await server.client.runs.list(copy.thread_id)).toEqual([])
    expect(await server.client.runs.list(source)).toHaveLength(1)
  })

  it('of a waiting thread waits too, and each is resumed separately', async () => {
    const { runs, threads } = server.client
    const { thread_id: source } = await threads.create()
    await runs.wait(source, 'ask', { input: { question: 'ready?' } })
    const copy = await threads.copy(source)
    expect(copy).toMatchObject({ status: 'interrupted' })
    expect(Object.values(copy.interrupts).flat()).toMatchObject([{ value: { question: 'ready?' } }])
    const values = await runs.wait(copy.thread_id, 'ask', { command: { resume: 'yes' } })
    expect(values).toMatchObject({ answers: ['yes', 'after'] })
    expect(await threads.get(source)).toMatchObject({ status: 'interrupted' })
  })

  it('of a busy thread has what was durable at that moment, and is not busy', async () => {
    const { runs, threads } = server.client
    const source = await talked('one')
    const hold = gate()
    const run = await startHeld(server.client, source, hold)
    const copy = await threads.copy(source)
    expect(copy.status).not.toBe('busy')
    hold.open()
    await run.stream.rest()
    expect(texts((await threads.get(copy.thread_id)).values))
      .toEqual(['one', 'echo: one', run.text, 'first'])
    expect(texts(await runs.wait(copy.thread_id, 'echo', { input: say('on') })).at(-1))
      .toBe('echo: on')
  })
})
