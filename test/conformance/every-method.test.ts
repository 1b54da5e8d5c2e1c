/** Every method of the official client once: none fails, and none is without its effect. */

import type { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'

import { collectAll, say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()

/** A method, by its part of the client and its name, and a call of it. */
type Calls = Readonly<Record<string, (client: Client) => Promise<void>>>

/** What is not offered yet. Empty this list, one name with each offer. */
const pending: ReadonlySet<string> = new Set([
  'threads.prune',
  'threads.patchState',
  'threads.stream',
  'runs.createBatch',
  'runs.cancelMany',
  'crons.createForThread',
  'crons.create',
  'crons.update',
  'crons.delete',
  'crons.search',
  'crons.count',
  'store.putItem',
  'store.getItem',
  'store.deleteItem',
  'store.searchItems',
  'store.listNamespaces',
  '~ui.getComponent',
])

/** Metadata that nothing else has. */
const mark = () => ({ mark: crypto.randomUUID() })

const threadOf = async ({ threads }: Client, metadata = mark()) =>
  (await threads.create({ metadata })).thread_id

const assistantOf = async ({ assistants }: Client, metadata = mark()) =>
  (await assistants.create({ graphId: 'echo', metadata, name: 'first' })).assistant_id

/** A thread with one run that has ended. */
async function spoken(client: Client) {
  const id = await threadOf(client)
  const run = await client.runs.create(id, 'echo', { input: say('one') })
  await client.runs.join(id, run.run_id)
  return { id, runId: run.run_id }
}

/** A thread with a run that does not end by itself. */
async function spinning(client: Client) {
  const id = await threadOf(client)
  const { run_id: runId } = await client.runs.create(id, 'spin', { input: { ms: -1 } })
  return { id, runId }
}

const gone = expect.objectContaining({ status: 404 }) as Error

const assistants: Calls = {
  'assistants.create': async (client) => {
    const made = await client.assistants.create({ graphId: 'echo', name: 'a name',
      description: 'a word', config: { tags: ['t'] }, context: { a: 1 }, ifExists: 'raise' })
    expect(made).toMatchObject({ graph_id: 'echo', name: 'a name', description: 'a word',
      config: { tags: ['t'] }, context: { a: 1 }, version: 1 })
  },
  'assistants.get': async (client) => {
    const id = await assistantOf(client)
    expect(await client.assistants.get(id)).toMatchObject({ assistant_id: id, name: 'first' })
  },
  'assistants.update': async (client) => {
    const id = await assistantOf(client)
    await client.assistants.update(id, { name: 'second' })
    expect(await client.assistants.get(id)).toMatchObject({ name: 'second', version: 2 })
  },
  'assistants.delete': async (client) => {
    const id = await assistantOf(client)
    await client.assistants.delete(id)
    await expect(client.assistants.get(id)).rejects.toEqual(gone)
  },
  'assistants.search': async (client) => {
    const metadata = mark()
    const id = await assistantOf(client, metadata)
    const found = await client.assistants.search({ metadata, graphId: 'echo', limit: 2,
      sortBy: 'created_at', sortOrder: 'asc' })
    expect(found.map(({ assistant_id: each }) => each)).toEqual([id])
  },
  'assistants.count': async (client) => {
    const metadata = mark()
    await Promise.all([assistantOf(client, metadata), assistantOf(client, metadata)])
    expect(await client.assistants.count({ metadata })).toBe(2)
  },
  'assistants.getVersions': async (client) => {
    const id = await assistantOf(client)
    await client.assistants.update(id, { name: 'second' })
    expect(await client.assistants.getVersions(id, { limit: 10 }))
      .toMatchObject([{ version: 2, name: 'second' }, { version: 1, name: 'first' }])
  },
  'assistants.setLatest': async (client) => {
    const id = await assistantOf(client)
    await client.assistants.update(id, { name: 'second' })
    await client.assistants.setLatest(id, 1)
    expect(await client.assistants.get(id)).toMatchObject({ version: 1, name: 'first' })
  },
  'assistants.getGraph': async (client) => {
    const { nodes } = await client.assistants.getGraph('nestedask', { xray: true })
    expect(nodes.map(({ id }) => id)).toContain('sub:prepare')
  },
  'assistants.getSchemas': async (client) => {
    expect(await client.assistants.getSchemas('echo')).toMatchObject({ graph_id: 'echo' })
  },
  'assistants.getSubgraphs': async (client) => {
    expect(Object.keys(await client.assistants.getSubgraphs('nested', { recurse: true })))
      .toEqual(['sub'])
  },
}

const threads: Calls = {
  'threads.create': async (client) => {
    const threadId = crypto.randomUUID()
    const made = await client.threads.create({ threadId, graphId: 'echo', metadata: { a: 1 },
      supersteps: [{ updates: [{ values: say('before'), asNode: '__start__' }] }] })
    expect(made).toMatchObject({ thread_id: threadId, metadata: { a: 1, graph_id: 'echo' } })
    expect(texts((await client.threads.getState(threadId)).values)).toEqual(['before'])
  },
  'threads.get': async (client) => {
    const { id } = await spoken(client)
    expect(await client.threads.get(id)).toMatchObject({ thread_id: id, status: 'idle' })
  },
  'threads.copy': async (client) => {
    const { id } = await spoken(client)
    const { thread_id: copy } = await client.threads.copy(id)
    expect(copy).not.toBe(id)
    expect((await client.threads.getState(copy)).values)
      .toEqual((await client.threads.getState(id)).values)
  },
  'threads.update': async (client) => {
    const id = await threadOf(client)
    await client.threads.update(id, { metadata: { more: true } })
    expect((await client.threads.get(id)).metadata).toMatchObject({ more: true })
  },
  'threads.delete': async (client) => {
    const id = await threadOf(client)
    await client.threads.delete(id)
    await expect(client.threads.get(id)).rejects.toEqual(gone)
  },
  'threads.search': async (client) => {
    const metadata = mark()
    const id = await threadOf(client, metadata)
    expect(
      await client.threads.search({ metadata, ids: [id], status: 'idle', limit: 2,
        sortBy: 'updated_at', select: ['thread_id'] }),
    ).toEqual([{ thread_id: id }])
  },
  'threads.count': async (client) => {
    const metadata = mark()
    await threadOf(client, metadata)
    expect(await client.threads.count({ metadata, status: 'idle' })).toBe(1)
  },
  'threads.getState': async (client) => {
    const { id } = await spoken(client)
    const { checkpoint } = await client.threads.getState(id)
    const [, before] = await client.threads.getHistory(id)
    expect(await client.threads.getState(id, before!.checkpoint, { subgraphs: true }))
      .toMatchObject({ checkpoint: before!.checkpoint })
    expect(checkpoint.checkpoint_id).not.toBe(before!.checkpoint.checkpoint_id)
  },
  'threads.updateState': async (client) => {
    const { id } = await spoken(client)
    await client.threads.updateState(id, { values: say('two'), asNode: '__start__' })
    expect(texts((await client.threads.getState(id)).values).at(-1)).toBe('two')
  },
  'threads.getHistory': async (client) => {
    const { id } = await spoken(client)
    const [newest, before] = await client.threads.getHistory(id, { limit: 5 })
    expect(await client.threads.getHistory(id, { before: newest!.checkpoint as never, limit: 1 }))
      .toEqual([before])
  },
}

const runs: Calls = {
  'runs.stream': async (client) => {
    const id = await threadOf(client)
    let made: string | undefined
    const parts = await collectAll(
      client.runs.stream(id, 'echo', { input: say('x'), streamMode: ['values'],
        onRunCreated: ({ run_id: runId }) => {
          made = runId
        } }),
    )
    expect(parts.at(-1)).toMatchObject({ event: 'end', data: { run_id: made } })
    const alone = await collectAll(client.runs.stream(null, 'echo', { input: say('x') }))
    expect(alone.at(-1)).toMatchObject({ event: 'end', data: { status: 'success' } })
  },
  'runs.create': async (client) => {
    const { id, runId } = await spoken(client)
    expect(await client.runs.get(id, runId)).toMatchObject({ status: 'success' })
  },
  'runs.wait': async (client) => {
    const id = await threadOf(client)
    expect(texts(await client.runs.wait(id, 'echo', { input: say('x') }))).toEqual(['x', 'echo: x'])
    expect(texts(await client.runs.wait(null, 'echo', { input: say('x') }))).toHaveLength(2)
  },
  'runs.list': async (client) => {
    const { id, runId } = await spoken(client)
    const listed = await client.runs.list(id, { limit: 5, offset: 0, status: 'success' })
    expect(listed.map(({ run_id: each }) => each)).toEqual([runId])
    expect(await client.runs.list(id, { status: 'error' })).toEqual([])
  },
  'runs.get': async (client) => {
    const { id, runId } = await spoken(client)
    expect(await client.runs.get(id, runId)).toMatchObject({ thread_id: id, run_id: runId })
  },
  'runs.cancel': async (client) => {
    const { id, runId } = await spinning(client)
    await client.runs.cancel(id, runId, true)
    expect(await client.runs.get(id, runId)).toMatchObject({ status: 'interrupted' })
  },
  'runs.join': async (client) => {
    const { id, runId } = await spoken(client)
    expect(texts(await client.runs.join(id, runId))).toEqual(['one', 'echo: one'])
  },
  'threads.joinStream': async (client) => {
    const { id, runId } = await spoken(client)
    for await (const { event, data } of client.threads.joinStream(id, { lastEventId: '-' })) {
      if (event !== 'metadata') continue
      expect(data).toMatchObject({ run_id: runId })
      if ((data as { status?: string }).status === 'run_done') break
    }
  },
  'runs.joinStream': async (client) => {
    const { id, runId } = await spoken(client)
    const whole = await collectAll(
      client.runs.joinStream(id, runId, { lastEventId: '-1', streamMode: ['values'] }),
    )
    expect(whole.map(({ event }) => event)).toEqual(['metadata', 'values', 'values', 'end'])
  },
  'runs.delete': async (client) => {
    const { id, runId } = await spoken(client)
    await client.runs.delete(id, runId)
    await expect(client.runs.get(id, runId)).rejects.toEqual(gone)
  },
}

const calls: Calls = { ...assistants, ...threads, ...runs }

/** The public methods of the client's parts, without those that all parts share. */
function methodsOf(client: Client): string[] {
  return Object.entries(client).flatMap(([part, value]: [string, unknown]) => {
    if (typeof value !== 'object' || value === null) return []
    const own = Object.getPrototypeOf(value) as object
    return Object.getOwnPropertyNames(own).filter((name) => name !== 'constructor')
      .map((name) => `${part}.${name}`)
  })
}

describe('the official client', () => {
  it('has no method without a call here', () => {
    const methods = methodsOf(server.client)
    expect(methods.length).toBeGreaterThan(40)
    expect(methods.filter((name) => !pending.has(name) && !Object.hasOwn(calls, name))).toEqual([])
  })

  it.each(Object.keys(calls))('gets what it asks for by %s', async (name) => {
    expect(pending.has(name)).toBe(false)
    await calls[name]!(server.client)
  })
})
