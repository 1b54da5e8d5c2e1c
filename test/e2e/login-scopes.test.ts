/**
 * A login as guides write them, by the official client: tokens of a provider, scopes, resources
 * that belong to who makes them and may be shared, and items in the namespace of their user.
 */

import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { ask } from '../support/wire.ts'

let provider: Server
let server: ServerProcess
let ann: Client
let ben: Client
/** Ann, with a token that only reads. */
let reader: Client

/** A provider whose tokens say whose they are, as `ann+read+write`. */
function openProvider(): Promise<Server> {
  const opened = createServer(({ headers: { authorization = '' } }, response) => {
    const [id = '', ...scopes] = authorization.replace(/^Bearer /, '').split('+')
    const isKnown = id === 'ann' || id === 'ben'
    response.writeHead(isKnown ? 200 : 401).end(isKnown ? JSON.stringify({ id, scopes }) : '')
  })
  return new Promise((resolve) => opened.listen(0, '127.0.0.1', () => resolve(opened)))
}

const withToken = (token: string) => clientOf(server.url, { authorization: `Bearer ${token}` })

beforeAll(async () => {
  provider = await openProvider()
  const { port } = provider.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/user`
  server = await startServer({ project: 'scopes', args: oneWorker, env: { PROVIDER_URL: url } })
  ann = withToken('ann+read+write+assistants')
  ben = withToken('ben+read+write+assistants')
  reader = withToken('ann+read')
})

afterAll(async () => {
  await server?.close()
  provider?.close()
})

const input = { messages: [{ role: 'user', content: 'hi' }] }
const missing = 'HTTP 404'
const refused = 'HTTP 403'

/** All that is asked for, each of which is answered with this error. */
async function eachIs(expected: string,
  asked: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const answers = await Promise.all(
    Object.entries(asked).map(async ([name, make]) =>
      [name, await make().then(() => 'answered', (caught: Error) => caught.message)] as const
    ),
  )
  const others = answers.filter(([, answer]) => !answer.startsWith(expected))
  expect(others).toEqual([])
}

/** Reads a stream to its end. */
async function read(stream: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const events: unknown[] = []
  for await (const each of stream) events.push(each)
  return events
}

describe('a token', () => {
  it('that the provider does not know opens nothing, and everybody reads what the server is',
    async () => {
      for (const token of ['eve+read+write', '']) {
        const { status, headers, body } = await ask(server.url, 'POST', '/threads', {}, {
          authorization: `Bearer ${token}`,
        })
        expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
        expect(JSON.stringify(body)).toContain('Log in first.')
      }
      expect((await ask(server.url, 'GET', '/info')).status).toBe(200)
    })

  it('does what its scopes allow', async () => {
    const { thread_id: id } = await ann.threads.create()
    expect((await reader.threads.get(id)).metadata).toEqual({ owner: 'ann' })
    await eachIs(refused, {
      create: () => reader.threads.create(),
      copy: () => reader.threads.copy(id),
      update: () => reader.threads.update(id, { metadata: { a: 1 } }),
      delete: () => reader.threads.delete(id),
      run: () => reader.runs.create(id, 'agent', { input }),
      state: () => reader.threads.updateState(id, { values: input }),
      alone: () => reader.runs.wait(null, 'agent', { input }),
      assistant: () => reader.assistants.create({ graphId: 'agent' }),
      cron: () => reader.crons.create('agent', { schedule: '0 0 1 1 *', input }),
      writer: () => withToken('ann+read+write').assistants.create({ graphId: 'agent' }),
    })
    expect(await ann.runs.list(id)).toEqual([])
  })
})

describe('a thread', () => {
  it('is there for its owner only, with its runs, states and streams', async () => {
    const { thread_id: id } = await ann.threads.create()
    await ann.runs.wait(id, 'agent', { input })
    const late = await ann.runs.create(id, 'agent', { input, afterSeconds: 100 })
    const { run_id: run } = late
    const { checkpoint } = await ann.threads.getState(id)
    expect((await ann.threads.getHistory(id)).length).toBeGreaterThan(1)
    await eachIs(missing, {
      get: () => ben.threads.get(id),
      update: () => ben.threads.update(id, { metadata: { owner: 'ben' } }),
      delete: () => ben.threads.delete(id),
      copy: () => ben.threads.copy(id),
      state: () => ben.threads.getState(id),
      checkpoint: () => ben.threads.getState(id, checkpoint.checkpoint_id!),
      history: () => ben.threads.getHistory(id),
      edit: () => ben.threads.updateState(id, { values: input }),
      runs: () => ben.runs.list(id),
      run: () => ben.runs.get(id, run),
      join: () => ben.runs.join(id, run),
      follow: () => read(ben.runs.joinStream(id, run)),
      cancel: () => ben.runs.cancel(id, run),
      remove: () => ben.runs.delete(id, run),
      start: () => ben.runs.create(id, 'agent', { input }),
      wait: () => ben.runs.wait(id, 'agent', { input }),
      stream: () => read(ben.runs.stream(id, 'agent', { input })),
      cron: () => ben.crons.createForThread(id, 'agent', { schedule: '0 0 1 1 *', input }),
    })
    expect((await ben.threads.search()).map(({ thread_id }) => thread_id)).not.toContain(id)
    expect((await ann.runs.list(id)).map(({ run_id, status }) => [run_id === run, status]))
      .toEqual([[true, 'pending'], [false, 'success']])
    expect(await ann.threads.get(id)).toMatchObject({ metadata: { owner: 'ann' } })
    await ann.runs.cancel(id, run, true)
    await ann.threads.delete(id)
  })

  it('may be shared with readers, who change nothing, until it is not any more', async () => {
    const { thread_id: id } = await ann.threads.create({ metadata: { readers: ['ben', 'carl'] } })
    await ann.runs.wait(id, 'agent', { input })
    expect((await ben.threads.get(id)).thread_id).toBe(id)
    expect((await ben.threads.getHistory(id)).length).toBeGreaterThan(1)
    expect(await ben.threads.count({})).toBeGreaterThan(0)
    const found = await ben.threads.search({ limit: 1_000 })
    expect(found.map(({ thread_id }) => thread_id)).toContain(id)
    await eachIs(missing, {
      run: () => ben.runs.create(id, 'agent', { input }),
      update: () => ben.threads.update(id, { metadata: { readers: ['ben'] } }),
      delete: () => ben.threads.delete(id),
    })
    await ann.threads.update(id, { metadata: { readers: [] } })
    await eachIs(missing, { get: () => ben.threads.get(id) })
    expect((await ben.threads.search({ limit: 1_000 })).map(({ thread_id }) => thread_id))
      .not.toContain(id)
  })

  it('is copied by its owner, who owns the copy', async () => {
    const { thread_id: id } = await ann.threads.create({ metadata: { topic: 'x' } })
    const copy = await ann.threads.copy(id) as unknown as { readonly thread_id: string }
    expect(copy.thread_id).not.toBe(id)
    expect((await ann.threads.get(copy.thread_id)).metadata).toEqual({ topic: 'x', owner: 'ann' })
  })
})

describe('an assistant', () => {
  it('is there for its owner only, with its versions, its graph and its runs', async () => {
    const { assistant_id: id } = await ann.assistants.create({ graphId: 'agent' })
    await ann.assistants.update(id, { metadata: { note: 'secret' } })
    await eachIs(missing, {
      get: () => ben.assistants.get(id),
      update: () => ben.assistants.update(id, { metadata: { owner: 'ben' } }),
      delete: () => ben.assistants.delete(id),
      graph: () => ben.assistants.getGraph(id),
      schemas: () => ben.assistants.getSchemas(id),
      versions: () => ben.assistants.getVersions(id),
      latest: () => ben.assistants.setLatest(id, 1),
      run: () => ben.runs.wait(null, id, { input }),
      none: () => ann.assistants.get('0198a2f0-0000-7000-8000-000000000009'),
    })
    expect((await ben.assistants.search({ limit: 1_000 })).map(({ assistant_id }) => assistant_id))
      .not.toContain(id)
    expect((await ann.assistants.search({ limit: 1_000 })).map(({ assistant_id }) => assistant_id))
      .toContain(id)
    expect(await ann.assistants.setLatest(id, 1)).toMatchObject({ version: 1,
      metadata: { owner: 'ann' } })
    expect(await ann.assistants.getGraph(id)).toHaveProperty('nodes')
  })

  it('of a graph and one of its own both run without a thread', async () => {
    const { assistant_id: id } = await ann.assistants.create({ graphId: 'agent' })
    for (const assistant of ['agent', id]) {
      expect(await ann.runs.wait(null, assistant, { input })).toMatchObject({
        messages: [{ content: 'hi' }, { content: 'Kept for ann.' }],
      })
      const events = await read(ann.runs.stream(null, assistant, { input }))
      expect(JSON.stringify(events)).not.toContain('"error"')
    }
  })
})

describe('an item', () => {
  it('is found in the namespace of its user, also one that a graph keeps', async () => {
    await ben.runs.wait(null, 'agent', {
      input: { messages: [{ role: 'user', content: 'of ben' }] },
    })
    await ann.store.putItem(['ann', 'notes'], 'n', { text: 'mine' })
    await eachIs(refused, {
      get: () => ann.store.getItem(['ben'], 'last'),
      put: () => ann.store.putItem(['ben'], 'last', { text: 'x' }),
      delete: () => ann.store.deleteItem(['ben'], 'last'),
      search: () => ann.store.searchItems(['ben']),
      list: () => ann.store.listNamespaces({ prefix: ['ben'] }),
    })
    expect(await ben.store.getItem(['ben'], 'last')).toMatchObject({ value: { text: 'of ben' } })
    expect((await ben.store.searchItems([])).items.map(({ key }) => key)).toEqual(['last'])
    expect((await ben.store.listNamespaces({})).namespaces).toEqual([['ben']])
    expect((await ann.store.searchItems([])).items.map(({ namespace }) => namespace[0]))
      .not.toContain('ben')
    expect((await ann.store.listNamespaces({})).namespaces.flat()).toContain('notes')
  })
})

describe('the page of developers', () => {
  const asPage = (headers: Record<string, string>, path = '/threads/search') =>
    ask(server.url, 'POST', path, {}, { 'x-auth-scheme': 'langsmith', ...headers })

  it('sees on this machine what the login lets it see, and nothing through a proxy', async () => {
    await ann.threads.create()
    const { status, body } = await asPage({})
    expect([status, (body as object[]).length > 0]).toEqual([200, true])
    expect((await asPage({ 'x-forwarded-for': '203.0.113.7' })).status).toBe(401)
    expect((await asPage({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await asPage({}, '/store/items/search')).status).not.toBe(500)
  })
})
