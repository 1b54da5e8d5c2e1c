/** Every method of the official client once: none fails, and none is without its effect. */

import type { Client } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'

import { useGates } from '../support/gate.ts'
import { collectAll, say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()

/** A method, by its part of the client and its name, and a call of it. */
type Calls = Readonly<Record<string, (client: Client) => Promise<void>>>

/** What is not offered, and why. */
const pending: Readonly<Record<string, string>> = {
  '~ui.getComponent': 'components that a project has for its users come with a later version',
}

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
async function waiting(client: Client) {
  const id = await threadOf(client)
  const { run_id: runId } = await client.runs.create(id, 'held', {
    input: say(`hold ${gate().url}`),
  })
  return { id, runId }
}

/** A thread of protocol v2 with one run that has ended, and what the client knows of it. */
async function streamed(client: Client, assistantId = 'echo', input: unknown = say('one')) {
  const stream = client.threads.stream({ assistantId })
  const ended = Promise.withResolvers<unknown>()
  stream.onEvent(({ method, params }) => {
    const { event } = params.data as { event?: string }
    if (method === 'lifecycle' && event !== 'running' && params.namespace.length === 0) {
      ended.resolve(event)
    }
  })
  await stream.subscribe(['lifecycle', 'input'])
  const { run_id: runId = '' } = await stream.run.start({ input })
  await ended.promise
  return { stream, runId, id: stream.threadId }
}

const stateOf = async (client: Client, id: string) => (await client.threads.getState(id)).values

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
  'threads.patchState': async (client) => {
    const { id } = await spoken(client)
    await client.threads.patchState(id, { reviewed: true })
    await client.threads.patchState({ configurable: { thread_id: id } }, { by: 'b' })
    expect((await client.threads.getState(id)).metadata).toMatchObject({ reviewed: true, by: 'b' })
  },
  'threads.prune': async (client) => {
    const [{ id: kept }, { id: deleted }] = await Promise.all([spoken(client), spoken(client)])
    expect(await client.threads.prune([kept], { strategy: 'keep_latest' }))
      .toEqual({ pruned_count: 1 })
    expect(await client.threads.getHistory(kept)).toHaveLength(1)
    expect(await client.threads.prune([deleted])).toEqual({ pruned_count: 1 })
    await expect(client.threads.get(deleted)).rejects.toEqual(gone)
  },
  'threads.joinStream': async (client) => {
    const { id, runId } = await spoken(client)
    for await (const { event, data } of client.threads.joinStream(id, { lastEventId: '-' })) {
      if (event !== 'metadata') continue
      expect(data).toMatchObject({ run_id: runId })
      if ((data as { status?: string }).status === 'run_done') break
    }
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
    const { id, runId } = await waiting(client)
    await client.runs.cancel(id, runId, true)
    expect(await client.runs.get(id, runId)).toMatchObject({ status: 'interrupted' })
  },
  'runs.join': async (client) => {
    const { id, runId } = await spoken(client)
    expect(texts(await client.runs.join(id, runId))).toEqual(['one', 'echo: one'])
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
  'runs.createBatch': async (client) => {
    const made = await client.runs.createBatch([{ assistantId: 'echo', input: say('one') }, {
      assistantId: 'steps',
      input: { topic: 't' },
      onCompletion: 'keep' as 'complete',
    }])
    expect(new Set(made.map(({ run_id: each }) => each)).size).toBe(2)
    const [, kept] = made
    expect(await client.runs.join(kept!.thread_id, kept!.run_id)).toMatchObject({ topic: 't' })
  },
  'runs.cancelMany': async (client) => {
    const { id, runId } = await waiting(client)
    await client.runs.cancelMany({ threadId: id, runIds: [runId] })
    await client.runs.join(id, runId)
    expect(await client.runs.get(id, runId)).toMatchObject({ status: 'interrupted' })
  },
}

/** Once a year, so that it is not due while the test runs. */
const schedule = '0 0 1 1 *'

const cronOf = async ({ crons }: Client, metadata = mark()) =>
  (await crons.create('echo', { schedule, input: say('x'), metadata })).cron_id

const crons: Calls = {
  'crons.createForThread': async (client) => {
    const id = await threadOf(client)
    const made = await client.crons.createForThread(id, 'echo', { schedule, input: say('x') })
    expect(made).toMatchObject({ thread_id: id, schedule, next_run_date: expect.any(String) })
    expect(await client.crons.count({ threadId: id })).toBe(1)
  },
  'crons.create': async (client) => {
    const metadata = mark()
    const made = await client.crons.create('echo', { schedule, timezone: 'Asia/Tokyo', metadata,
      input: say('x'), onRunCompleted: 'keep', enabled: false })
    expect(made).toMatchObject({ thread_id: null, timezone: 'Asia/Tokyo', metadata,
      on_run_completed: 'keep', enabled: false, next_run_date: null })
  },
  'crons.update': async (client) => {
    const metadata = mark()
    const id = await cronOf(client, metadata)
    await client.crons.update(id, { enabled: false, schedule: '0 0 2 1 *' })
    expect(await client.crons.search({ metadata }))
      .toMatchObject([{ cron_id: id, enabled: false, schedule: '0 0 2 1 *' }])
  },
  'crons.delete': async (client) => {
    const metadata = mark()
    await client.crons.delete(await cronOf(client, metadata))
    expect(await client.crons.search({ metadata })).toEqual([])
  },
  'crons.search': async (client) => {
    const metadata = mark()
    const made = [await cronOf(client, metadata), await cronOf(client, metadata)]
    const found = await client.crons.search({ metadata, enabled: true, limit: 1, offset: 1,
      sortBy: 'created_at', sortOrder: 'asc', select: ['cron_id'] })
    expect(found).toEqual([{ cron_id: made[1] }])
  },
  'crons.count': async (client) => {
    const metadata = mark()
    await Promise.all([cronOf(client, metadata), cronOf(client, metadata)])
    expect(await client.crons.count({ metadata })).toBe(2)
  },
}

/** A namespace with one item. */
async function stored({ store }: Client, value: Record<string, unknown> = { n: 1 }) {
  const namespace = ['every', crypto.randomUUID()]
  await store.putItem(namespace, 'key', value)
  return namespace
}

const store: Calls = {
  'store.putItem': async (client) => {
    const namespace = await stored(client)
    await client.store.putItem(namespace, 'key', { n: 2 }, { index: false, ttl: 60 })
    expect(await client.store.getItem(namespace, 'key')).toMatchObject({ value: { n: 2 } })
  },
  'store.getItem': async (client) => {
    const namespace = await stored(client)
    expect(await client.store.getItem(namespace, 'key', { refreshTtl: true }))
      .toMatchObject({ namespace, key: 'key', value: { n: 1 }, createdAt: expect.any(String) })
  },
  'store.deleteItem': async (client) => {
    const namespace = await stored(client)
    await client.store.deleteItem(namespace, 'key')
    expect(await client.store.searchItems(namespace)).toEqual({ items: [] })
  },
  'store.searchItems': async (client) => {
    const namespace = await stored(client, { n: 3, kind: 'x' })
    await client.store.putItem(namespace, 'other', { n: 1, kind: 'x' })
    const { items } = await client.store.searchItems(namespace, { filter: { n: { $gt: 2 } },
      limit: 5 })
    expect(items.map(({ key }) => key)).toEqual(['key'])
  },
  'store.listNamespaces': async (client) => {
    const namespace = await stored(client)
    expect(await client.store.listNamespaces({ prefix: namespace, maxDepth: 2, limit: 5 }))
      .toEqual({ namespaces: [namespace] })
  },
}

/** A thread's stream is an object with methods of its own. */
const streams: Calls = {
  'threads.stream': async (client) => {
    const stream = client.threads.stream({ assistantId: 'echo' })
    await stream.run.start({ input: say('x') })
    const { messages } = await stream.output as { messages: { content: string }[] }
    expect(messages.map(({ content }) => content)).toEqual(['x', 'echo: x'])
    await stream.close()
  },
  'stream.run.start': async (client) => {
    const { id, runId } = await streamed(client)
    expect(await client.runs.get(id, runId)).toMatchObject({ status: 'success' })
  },
  'stream.agent.getTree': async (client) => {
    const { stream } = await streamed(client)
    expect(await stream.agent.getTree()).toMatchObject({ tree: { graph_name: 'echo' } })
  },
  'stream.input.respond': async (client) => {
    const { id, stream } = await streamed(client, 'ask', { question: 'ready?' })
    const [asked] = stream.interrupts
    await stream.input.respond({ namespace: [], interrupt_id: asked!.interruptId!,
      response: 'yes' })
    await expect.poll(() => stateOf(client, id)).toMatchObject({ answers: ['yes', 'after'] })
  },
  'stream.input.inject': async (client) => {
    const hold = gate()
    const id = await threadOf(client)
    const input = say(`hold ${hold.url}`)
    const { run_id: runId } = await client.runs.create(id, 'held', { input })
    await hold.arrived()
    const stream = client.threads.stream(id, { assistantId: 'held' })
    await stream.input.inject({ namespace: [], message: { role: 'user', content: 'also' } })
    hold.open()
    await client.runs.join(id, runId)
    expect(texts(await stateOf(client, id)))
      .toEqual([`hold ${hold.url}`, 'first', 'held', 'also', 'last'])
    expect(await client.runs.list(id)).toMatchObject([{ run_id: runId, status: 'success' }])
    await stream.close()
  },
  'stream.state.get': async (client) => {
    const { stream } = await streamed(client)
    const { values } = await stream.state.get({ namespace: [] })
    expect(texts(values)).toEqual(['one', 'echo: one'])
  },
  'stream.state.listCheckpoints': async (client) => {
    const { id, stream } = await streamed(client)
    const { checkpoints } = await stream.state.listCheckpoints({})
    expect(checkpoints).toHaveLength((await client.threads.getHistory(id)).length)
  },
  'stream.state.fork': async (client) => {
    const { id, stream } = await streamed(client)
    const { checkpoints } = await stream.state.listCheckpoints({})
    await stream.state.fork({ checkpoint_id: checkpoints.at(-1)!.id, input: say('other') } as never)
    await expect.poll(async () => texts(await stateOf(client, id)))
      .toEqual(['other', 'echo: other'])
  },
  'stream.subscribe': async (client) => {
    const stream = client.threads.stream({ assistantId: 'echo' })
    const values = await stream.subscribe('values')
    await stream.run.start({ input: say('x') })
    for await (const each of values) if (texts(each).length === 2) break
    await stream.close()
  },
}

const calls: Calls = { ...assistants, ...threads, ...runs, ...crons, ...store, ...streams }

/** The public methods of the client's parts, without those that all parts share. */
function methodsOf(client: Client): string[] {
  return Object.entries(client).flatMap(([part, value]: [string, unknown]) => {
    if (typeof value !== 'object' || value === null) return []
    const own = Object.getPrototypeOf(value) as object
    return Object.getOwnPropertyNames(own).filter((name) => name !== 'constructor')
      .map((name) => `${part}.${name}`)
  })
}

/** The methods of a thread's stream that ask the server for something. */
function streamMethodsOf(client: Client): string[] {
  const { run, agent, input, state } = client.threads.stream({ assistantId: 'echo' })
  return Object.entries({ run, agent, input, state }).flatMap(([part, methods]) =>
    Object.keys(methods).map((name) => `stream.${part}.${name}`)
  )
}

describe('the official client', () => {
  it('has no method without a call here', () => {
    const methods = [...methodsOf(server.client), ...streamMethodsOf(server.client)]
    expect(methods.length).toBeGreaterThan(50)
    const left = methods.filter((name) => !Object.hasOwn(calls, name))
    expect(left.toSorted()).toEqual(Object.keys(pending))
  })

  it.each(Object.keys(calls))('gets what it asks for by %s', (name) => calls[name]!(server.client))
})
