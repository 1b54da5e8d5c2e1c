/** A project with a login of its own, served: it is asked before anything is done or shown. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { operations } from '../../src/api/index.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { ask } from '../support/wire.ts'

let server: ServerProcess
beforeAll(async () => {
  server = await startServer({ project: 'login', args: oneWorker })
}, 60_000)
afterAll(() => server.close())

/** Asks as a user; without a name, as nobody. */
const as = (name: string | undefined, method: string, path: string, body?: unknown) =>
  ask(server.url, method, path, body, name === undefined ? {} : { authorization: `Bearer ${name}` })

const threadOf = async (name: string, metadata = {}) => {
  const { body } = await as(name, 'POST', '/threads', { metadata })
  return (body as { thread_id: string }).thread_id
}

/** Operations that ask a login. */
const asking = operations.filter(({ operation: { asks = { nothing: '' } } }) =>
  typeof asks === 'string' || Array.isArray(asks)
)

/** A body with which most operations pass their checks. */
const anyBody = { assistant_id: 'agent', graph_id: 'agent', input: {}, namespace: ['a'], key: 'k',
  value: {}, schedule: '0 0 * * *', run_ids: [], thread_ids: [], values: {} }

describe('the login of a project', () => {
  it('is asked by every route: who is allowed nothing does and learns nothing', async () => {
    const thread = await threadOf('ann')
    const answers = await Promise.all(asking.map(async ({ operation: { method, path } }) => {
      const address = path.replace(':thread_id', thread).replace(':assistant_id', 'agent')
        .replaceAll(/:\w+/g, thread)
      const answer = await as('out', method, address, method === 'GET' ? undefined : anyBody)
      return { route: `${method} ${path}`, ...answer }
    }))
    const open = answers.filter(({ status }) => status < 400 || status >= 500)
    expect(open.map(({ route, status }) => `${route} ${status}`)).toEqual([])
    expect(answers.filter(({ status }) => status === 403).length).toBeGreaterThan(25)
    const shown = answers.filter(({ body }) => JSON.stringify(body ?? '').includes('"owner"'))
    expect(shown).toEqual([])
    expect((await as('ann', 'GET', `/threads/${thread}`)).status).toBe(200)
  })

  it('refuses as it says, and tells nothing of its errors', async () => {
    const refused = await as(undefined, 'POST', '/threads', {})
    expect(refused).toMatchObject({ status: 401 })
    expect(JSON.stringify(refused.body)).toContain('Who is it?')
    const odd = await as('odd', 'POST', '/threads', {})
    expect(odd.status).toBe(500)
    expect(JSON.stringify(odd.body)).not.toContain('secret')
    expect((await as(undefined, 'GET', '/info')).status).toBe(200)
  })

  it('adds metadata, and shows each user their own threads only', async () => {
    const [ofAnn, ofBen] = [await threadOf('ann', { of: 'ann' }), await threadOf('ben')]
    expect((await as('ann', 'GET', `/threads/${ofAnn}`)).body)
      .toMatchObject({ metadata: { of: 'ann', owner: 'ann' } })
    for (const path of ['', '/state', '/history', '/runs']) {
      expect((await as('ben', 'GET', `/threads/${ofAnn}${path}`)).status).toBe(404)
    }
    expect((await as('ben', 'PATCH', `/threads/${ofAnn}`, { metadata: { owner: 'ben' } })).status)
      .toBe(404)
    const found = await as('ann', 'POST', '/threads/search', { metadata: { owner: 'ben' } })
    expect(found.body).toEqual([])
    const all = (await as('ben', 'POST', '/threads/search', {})).body as { thread_id: string }[]
    expect(all.map((each) => each.thread_id)).toEqual([ofBen])
    expect((await as('ben', 'POST', '/threads/count', {})).body).toBe(1)
    expect((await as('ann', 'DELETE', `/threads/${ofAnn}`)).status).toBe(403)
  })

  it('is in the config of a run, which its caller alone may start there', async () => {
    const thread = await threadOf('ann')
    const body = { assistant_id: 'agent', input: {},
      config: { configurable: { langgraph_auth_user_id: 'ben' } } }
    const { body: values } = await as('ann', 'POST', `/threads/${thread}/runs/wait`, body)
    expect(values).toMatchObject({ messages: [{ content: '{"id":"ann","team":"team of ann"}' }] })
    for (const path of ['runs', 'runs/wait', 'runs/stream']) {
      expect((await as('ben', 'POST', `/threads/${thread}/${path}`, body)).status).toBe(404)
    }
    const seen = await as('ben', 'POST', '/runs/search', {})
    expect(seen.body).toEqual([])
    const lone = await as('ben', 'POST', '/runs/wait', body)
    expect(lone.body).toMatchObject({
      messages: [{ content: '{"id":"ben","team":"team of ben"}' }],
    })
  })

  it('calls a webhook that names a route of the project as the user of the run', async () => {
    const posted = await as('ann', 'POST', '/runs/wait', { assistant_id: 'agent', input: {},
      webhook: '/run-ended' })
    expect(posted.status).toBe(200)
    const calls = async () => (await as('ann', 'GET', '/run-ended')).body as object[]
    await expect.poll(async () => (await calls()).length, { timeout: 15_000 }).toBe(2)
    const [first, second] = await calls()
    expect(second).toMatchObject({ status: 'success', caller: 'ann' })
    expect(first).toEqual(second)
    expect((await as(undefined, 'POST', '/run-ended', {})).status).toBe(401)
  })

  it('moves items of the store into the namespace of their user', async () => {
    const item = { namespace: ['notes'], key: 'a', value: { text: 'mine' } }
    expect((await as('ann', 'PUT', '/store/items', item)).status).toBe(204)
    expect((await as('ann', 'GET', '/store/items?namespace=notes&key=a')).body)
      .toMatchObject({ value: { text: 'mine' } })
    expect((await as('ben', 'GET', '/store/items?namespace=notes&key=a')).body).toBeNull()
  })

  it('is asked for tools and for agents as for runs', async () => {
    const thread = await threadOf('ann')
    const call = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: {
      kind: 'message',
      role: 'user',
      messageId: 'm1',
      contextId: thread,
      parts: [{ kind: 'text', text: 'hi' }],
    } } }
    expect(JSON.stringify((await as('ann', 'POST', '/a2a/agent', call)).body)).toContain('team of')
    expect(JSON.stringify((await as('ben', 'POST', '/a2a/agent', { ...call, id: 2 })).body))
      .toContain('error')
    expect((await as(undefined, 'POST', '/a2a/agent', call)).status).toBe(401)
    const card = '/a2a/agent/.well-known/agent-card.json'
    expect((await as('ann', 'GET', card)).body).toMatchObject({ security: [{ user: [] }],
      securitySchemes: { user: { type: 'http', httpAuthSecurityScheme: { scheme: 'bearer' } } } })
    expect((await as(undefined, 'GET', card)).status).toBe(401)
    const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call',
      params: { name: 'agent', arguments: {} } }
    expect(JSON.stringify((await as('ben', 'POST', '/mcp', tool)).body)).toContain('team of ben')
    expect((await as(undefined, 'POST', '/mcp', tool)).status).toBe(401)
    // Of a client that shows forms: its thread is asked for too, and goes although nobody deletes.
    const answer = await fetch(`${server.url}/mcp`, { method: 'POST', body: JSON.stringify(tool),
      headers: { 'authorization': 'Bearer ben', 'content-type': 'application/json',
        'mcp-session-id': `f-${crypto.randomUUID()}` } })
    expect(await answer.text()).toContain('team of ben')
    const left = await as('ben', 'POST', '/threads/search', { metadata: { mcp_tool: 'agent' } })
    expect(left.body).toEqual([])
  })
})
