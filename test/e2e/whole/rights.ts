/** What each user of the bakery may do and see, over REST. */

import { expect } from 'vitest'

import { say, texts } from '../../support/run-events.ts'
import type { Bakery } from './bakery.ts'

/** Who somebody is in the graph, as the graph says it. */
interface Known {
  readonly id: string
  readonly team: string
  readonly colour: string | null
}

/** Makes a thread. Resolves with its id. */
export async function threadOf(bakery: Bakery, door: number, user: string): Promise<string> {
  const { thread_id: id } = await bakery.get<{ readonly thread_id: string }>(door, user, {
    method: 'POST',
    path: '/threads',
    body: { metadata: { of: user } },
  })
  return id
}

/** A thread belongs to who made it, wherever it is asked for. */
export async function seesOwnThreads(bakery: Bakery): Promise<void> {
  const id = await threadOf(bakery, 0, 'alice')
  const path = `/threads/${id}`
  const seen = await bakery.everywhere('alice', { method: 'GET', path })
  expect(seen).toMatchObject({ status: 200, headers: { 'x-bakery': 'wrapped' },
    json: { metadata: { of: 'alice', owner: 'alice' } } })
  for (const part of ['', '/state', '/history', '/runs']) {
    const hidden = await bakery.everywhere('bob', { method: 'GET', path: path + part })
    expect([part, hidden.status]).toEqual([part, 404])
  }
  const taken = { method: 'PATCH', path, body: { metadata: { owner: 'bob' } } }
  expect(await bakery.everywhere('bob', taken)).toMatchObject({ status: 404 })
  const last = bakery.doors.length - 1
  const changed = { method: 'PATCH', path, body: { metadata: { of: 'her' } } }
  await bakery.get(last, 'alice', changed)
  expect(await bakery.everywhere('alice', { method: 'GET', path }))
    .toMatchObject({ json: { metadata: { of: 'her', owner: 'alice' } } })
  const search = { method: 'POST', path: '/threads/search', body: { ids: [id] } }
  expect(await bakery.everywhere('alice', search)).toMatchObject({ json: [{ thread_id: id }] })
  expect(await bakery.everywhere('bob', search)).toMatchObject({ status: 200, json: [] })
}

/** The graph knows who calls, from the login alone, and sees the headers that are named. */
export async function isKnownInGraph(bakery: Bakery): Promise<void> {
  for (const [user, colour] of [['alice', 'green'], ['bob', null]] as const) {
    const answer = await bakery.everywhere(user, { method: 'POST', path: '/runs/wait',
      body: { assistant_id: 'bakery', input: say('who'),
        config: { configurable: { langgraph_auth_user_id: 'forged' } } },
      ...colour && { headers: { 'x-colour': colour, 'x-other': 'hidden' } } })
    expect(answer.status).toBe(200)
    expect(JSON.parse(texts(answer.json)[1]!) as Known)
      .toEqual({ id: user, team: `team of ${user}`, colour })
  }
}

/** Items are in the namespace of their user. */
export async function keepsItemsApart(bakery: Bakery): Promise<void> {
  const item = { namespace: ['notes'], key: crypto.randomUUID(), value: { text: 'hers' } }
  expect(await bakery.ask(0, 'alice', { method: 'PUT', path: '/store/items', body: item }))
    .toMatchObject({ status: 204 })
  const asked = { method: 'GET', path: `/store/items?namespace=notes&key=${item.key}` }
  expect(await bakery.everywhere('alice', asked)).toMatchObject({
    json: { value: { text: 'hers' } },
  })
  expect(await bakery.everywhere('bob', asked)).toMatchObject({ status: 200, text: 'null' })
}

/** Who is let in nowhere does nothing, and gets what the login answers. */
export async function isDenied(bakery: Bakery): Promise<void> {
  const asked = [
    { method: 'POST', path: '/threads', body: {} },
    { method: 'POST', path: '/threads/search', body: {} },
    { method: 'POST', path: '/runs/wait', body: { assistant_id: 'bakery', input: say('who') } },
    { method: 'GET', path: '/store/items?namespace=notes&key=a' },
    { method: 'POST', path: '/mcp',
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call',
        params: { name: 'bakery', arguments: say('who') } } },
    { method: 'POST', path: '/a2a/bakery',
      body: { jsonrpc: '2.0', id: 1, method: 'message/send', params: {
        message: { kind: 'message', role: 'user', messageId: 'a',
          parts: [{ kind: 'text', text: 'who' }] },
      } } },
    { method: 'GET', path: '/bakery/user' },
  ]
  for (const each of asked) {
    const refused = await bakery.everywhere(undefined, each)
    expect([each.path, refused.status, refused.headers['x-login']])
      .toEqual([each.path, 401, 'passes'])
    const forged = { ...each, headers: { authorization: 'Bearer alice.0123456789abcdef' } }
    expect([each.path, (await bakery.everywhere(undefined, forged)).status]).toEqual([each.path,
      401])
    if (each.path === '/bakery/user') continue
    const denied = await bakery.everywhere('denied', each)
    expect([each.path, denied.text]).toEqual([each.path, expect.not.stringContaining('team of')])
    expect([each.path, denied.status]).toEqual([each.path, 403])
  }
  const fault = await bakery.everywhere('throws', { method: 'POST', path: '/threads', body: {} })
  expect(fault).toMatchObject({ status: 500 })
  expect(fault.text).toContain('Internal Server Error')
}

/** The client of a graph has no address, and acts as who started the run. */
export async function actsAsItsCaller(bakery: Bakery): Promise<void> {
  const { messages } = await bakery.get<{ readonly messages: readonly { content: string }[] }>(1,
    'alice', { method: 'POST', path: '/runs/wait',
    body: { assistant_id: 'bakery', input: say('thread') } })
  const path = `/threads/${messages[1]!.content}`
  expect(await bakery.everywhere('alice', { method: 'GET', path }))
    .toMatchObject({ status: 200, json: { metadata: { owner: 'alice' } } })
  expect(await bakery.everywhere('bob', { method: 'GET', path })).toMatchObject({ status: 404 })
}
