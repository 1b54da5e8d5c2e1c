/** The app of a project behind the front door: its routes, and its middleware around ours. */

import { once } from 'node:events'
import { request as send } from 'node:http'
import type { IncomingMessage } from 'node:http'

import { describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'

import type { HttpSettings } from '../../../../src/graph/index.ts'
import { usualSettings } from '../../../../src/graph/index.ts'
import { addressReader, deploymentGate } from '../../../../src/frontdoor/index.ts'
import type { Limit } from '../../../../src/frontdoor/http/guard.ts'
import { rateLimits } from '../../../../src/limits/index.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { ownCounters } from '../../limits/own-counters.ts'
import { activeIn, openKeyed } from '../mount/deployment-door.ts'
import { call, openDoor, plainStatus } from '../open-front-door.ts'
import { imports, useApp } from './app-door.ts'

const source = `${imports}
export const app = new Hono()

app.use('/threads/*', async (c, next) => {
  if (c.req.header('x-refuse')) return c.json({ mine: true }, Number(c.req.header('x-refuse')))
  if (c.req.header('x-change') && c.req.method === 'POST') {
    const body = { ...await c.req.json(), metadata: { added: true } }
    const { raw } = c.req
    c.req.raw = new Request(raw, { method: 'POST', headers: raw.headers,
      body: JSON.stringify(body) })
  }
  if (c.req.header('x-peek')) await c.req.json()
  await next()
  c.header('x-wrapped', 'yes')
  if (c.req.header('x-change')) {
    c.res = new Response(JSON.stringify({ was: await c.res.json() }), c.res)
  }
})
app.get('/hello', (c) => c.json({ hello: c.req.query('name') ?? null, url: c.req.url,
  auth: c.var.auth ?? null, address: c.env.incoming.socket.remoteAddress,
  id: c.req.header('x-request-id'), secret: c.req.header('x-heddle-app-token') ?? null }))
app.post('/echo', (c) => new Response(c.req.raw.body, { headers: c.req.raw.headers }))
app.get('/events', (c) => streamSSE(c, async (stream) => {
  stream.onAbort(() => console.log('client left'))
  await stream.writeSSE({ data: 'first' })
  await new Promise(() => {})
}))
app.get('/late', () => new Response(new ReadableStream({ start() {} })))
app.get('/ask', async () => {
  const own = 'http://localhost:' + process.env.PORT
  const found = await fetch(own + '/assistants/search', { method: 'POST', body: '{}',
    headers: { 'content-type': 'application/json' } })
  const plain = await fetch(own + '/info')
  return Response.json({ status: found.status, plain: plain.status })
})
app.get('/throws', () => { throw new Error('words of a secret') })
app.get('/exit', () => process.exit(1))
app.get('/next', async (c, next) => { await next(); c.header('x-passed', 'on') })
app.get('/openapi.json', (c) => c.json({ openapi: '3.1.0', info: {}, paths: {
  '/hello': { get: { summary: 'Says hello.', responses: { 200: { description: 'Hello.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } } } } },
  '/internal/secret': { get: {} } },
  components: { schemas: { Error: { type: 'string' } } } }))
for (const path of ['/internal/cluster', '/control/v1/deployments', '/studio/', '/ok', '/keys'])
  app.all(path, (c) => c.text('taken over'))

export const injectWebSocket = (server) => {
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (request.url !== '/echo-socket') return socket.destroy()
    sockets.handleUpgrade(request, socket, head, (each) =>
      each.on('message', (text) => each.send('echo ' + text)))
  })
}
app.get('/echo-socket', (c) => c.text('a socket', 426))
`

const app = useApp({ app: source })
const page = 'https://page.example'

async function openOwn(settings: HttpSettings = {}, limit?: Limit) {
  const door = await openDoor({ graphs: app.host(), projectHttp: () => settings,
    ...limit && { limit } })
  app.servedAt(door.url)
  return door
}

async function openWithKeys(settings: HttpSettings = {}, limit?: Limit) {
  const opened = await openKeyed({}, { graphs: app.host(), projectHttp: () => settings,
    ...limit && { limit } })
  app.servedAt(opened.door.url)
  return opened
}

/** Resolves with the answer when its headers are there. */
function open(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = send(url, { headers, agent: false }, resolve)
    request.once('error', reject).end()
  })
}

describe('a route of an app', () => {
  it('answers with the address of the client, and without secrets of the server', async () => {
    const door = await openOwn()
    const { status, json, headers } = await call(door, 'GET', '/hello?name=ann', undefined, {
      'x-request-id': 'mine',
      'x-heddle-user': '{"identity":"forged"}',
    })
    expect([status, json]).toEqual([200, { hello: 'ann', url: `${door.url}/hello?name=ann`,
      auth: null, address: '127.0.0.1', id: 'mine', secret: null }])
    expect(headers.get('x-request-id')).toBe('mine')
    expect([...headers.keys()].filter((name) => name.startsWith('x-heddle-app'))).toEqual([])
  })

  it('gets bodies as they come, and sends answers as they are made', async () => {
    const door = await openOwn()
    const body = 'x'.repeat(3_000_000)
    expect((await call(door, 'POST', '/echo', body, { 'content-type': 'text/plain' })).text)
      .toBe(body)
    // The second event never comes.
    const events = await open(`${door.url}/events`)
    const [first] = await once(events, 'data') as [Buffer]
    expect(first.toString()).toContain('data: first')
    events.destroy()
    await expect.poll(() => app.lines).toContain('client left')
    const late = await open(`${door.url}/late`)
    expect(late.statusCode).toBe(200)
    late.destroy()
  })

  it('has errors of its own', async () => {
    const door = await openOwn()
    const { status, text } = await call(door, 'GET', '/throws')
    expect([status, text]).toEqual([500, 'Internal Server Error'])
    const { status: none, json } = await call(door, 'GET', '/nothing')
    expect([none, json['code']]).toEqual([404, 'not_found'])
  })

  it('takes WebSockets, if its module does', async () => {
    const door = await openOwn()
    const socket = new WebSocket(`${door.url.replace('http', 'ws')}/echo-socket`)
    await once(socket, 'open')
    socket.send('hello')
    const [text] = await once(socket, 'message') as [Buffer]
    expect(String(text)).toBe('echo hello')
    socket.close()
    await once(socket, 'close')
  })

  it('takes no address of the server, whatever the app has', async () => {
    const door = await openOwn()
    for (const path of ['/internal/cluster', '/control/v1/deployments', '/studio/', '/ok',
      '/keys']) {
      expect((await call(door, 'GET', path)).text).not.toContain('taken over')
    }
  })

  it('has a bound on its body', async () => {
    const door = await openDoor({ graphs: app.host(), projectHttp: () => ({}),
      bodyLimitBytes: 1_000 })
    const answer = await call(door, 'POST', '/echo', 'x'.repeat(2_000))
    expect([answer.status, answer.json['code']]).toEqual([413, 'too_large'])
    const chunked = await fetch(`${door.url}/echo`,
      { method: 'POST', duplex: 'half', body: new ReadableStream({ start: (sink) => {
        sink.enqueue(new Uint8Array(2_000))
        sink.close()
      } }) } as RequestInit)
    expect(chunked.status).toBe(413)
  })

  it('is charged once, and is in the log of requests', async () => {
    const limit = vi.fn<Limit>(async () => {})
    const received = vi.fn()
    const door = await openDoor({ graphs: app.host(), projectHttp: () => ({}), limit, received })
    await call(door, 'GET', '/hello')
    expect(limit).toHaveBeenCalledTimes(1)
    await expect.poll(() => received.mock.calls).toEqual([[
      expect.objectContaining({ route: 'app', method: 'GET', status: '200' }),
    ]])
  })
})

describe('middleware of an app', () => {
  it('wraps our routes, and changes bodies and headers both ways', async () => {
    const limit = vi.fn<Limit>(async () => {})
    const door = await openOwn({}, limit)
    const made = await call(door, 'POST', '/threads/search', { limit: 5 })
    expect([made.status, made.headers.get('x-wrapped')]).toEqual([200, 'yes'])
    expect(limit).toHaveBeenCalledTimes(1)
    const changed = await call(door, 'POST', '/threads/search', {}, { 'x-change': '1' })
    expect(changed.json).toEqual({ was: [] })
    expect(await call(door, 'POST', '/threads/search', {}, { 'x-peek': '1' }))
      .toMatchObject({ status: 200 })
  })

  it('may answer itself, and what is not there stays our error', async () => {
    const door = await openOwn()
    expect(await call(door, 'GET', '/threads/x', undefined, { 'x-refuse': '418' }))
      .toMatchObject({ status: 418, json: { mine: true } })
    const { status, json, headers } = await call(door, 'GET', '/threads/x')
    expect([status, json['code'], headers.get('x-wrapped')]).toEqual([422, 'invalid', 'yes'])
    expect((await call(door, 'GET', '/next')).headers.get('x-passed')).toBe('on')
  })

  it('refuses sockets and typed calls, which it cannot wrap', async () => {
    const door = await openOwn()
    const id = '0198c0de-0000-7000-8000-000000000000'
    expect(await plainStatus(door.url, '/threads/search', { 'x-refuse': '401' }, 'POST')).toBe(401)
    const address = `${door.url.replace('http', 'ws')}/threads/${id}/stream/events`
    const refused = new WebSocket(address, { headers: { 'x-refuse': '401' } })
    const [code] = await once(refused, 'close') as [number]
    expect(code).toBe(4401)
    const passed = new WebSocket(address)
    await once(passed, 'open')
    passed.terminate()
    const other = await call(door, 'POST', '/frontdoor.v1.StoreService/ListNamespaces', {})
    expect(other.json['code']).not.toBe('permission_denied')
  })

  it('comes before the login or after it, and nobody is asked twice', async () => {
    for (const order of ['middleware_first', 'auth_first'] as const) {
      const limit = vi.fn<Limit>(async () => {})
      const { door, as } = await openWithKeys({ middleware_order: order }, limit)
      const acme = await as('acme')
      const refused = await call(door, 'GET', '/threads/x', undefined, { 'x-refuse': '418' })
      expect([order, refused.status]).toEqual([order, order === 'auth_first' ? 401 : 418])
      expect((await call(door, 'POST', '/threads/search', {})).status).toBe(401)
      limit.mockClear()
      expect((await acme('POST', '/threads/search', {})).status).toBe(200)
      expect(limit).toHaveBeenCalledTimes(1)
    }
  })
})

describe('a caller', () => {
  it('of a route is asked for only if the project says so', async () => {
    const { door } = await openWithKeys()
    expect((await call(door, 'GET', '/hello')).json).toMatchObject({ auth: null })
    const { door: asking, as } = await openWithKeys({ enable_custom_route_auth: true })
    expect((await call(asking, 'GET', '/hello')).status).toBe(401)
    const acme = await as('acme')
    expect((await acme('GET', '/hello')).json['auth']).toEqual({ scopes: ['developer'],
      user: { identity: expect.any(String) as string, permissions: ['developer'],
        is_authenticated: true, display_name: expect.any(String) as string } })
  })

  it('has its own rights in the client of the app', async () => {
    const { door, as } = await openWithKeys()
    expect((await call(door, 'GET', '/ask')).json).toEqual({ status: 401, plain: 200 })
    expect((await (await as('acme'))('GET', '/ask')).json).toMatchObject({ status: 200 })
    const deployer = await as('acme', 'deployer')
    expect((await deployer('GET', '/ask')).json).toMatchObject({ status: 403 })
  })
})

it('The routes of an app are described with ours, under names of their own.', async () => {
  const door = await openOwn()
  const { json } = await call(door, 'GET', '/openapi.json')
  const { paths, components } = json as Record<string, Record<string, object>>
  expect(paths!['/hello']).toMatchObject({ get: { tags: ['App'], responses: { 200: { content: {
    'application/json': { schema: { $ref: '#/components/schemas/app.Error' } },
  } } } } })
  expect(paths).toHaveProperty(['/threads'])
  expect(paths).not.toHaveProperty(['/internal/secret'])
  expect(components!['schemas']).toMatchObject({ 'app.Error': { type: 'string' },
    Error: { type: 'object' } })
})

it('The app of a deployment is below its path and at its host name.', async () => {
  const twins = memoryDeployments()
  const view = (namespace: string) => ({ ...twins.serving.view(namespace)!,
    settings: { ...usualSettings,
      http: { app: './app.ts:app', cors: { allow_origins: [page], allow_methods: ['POST'] } } } })
  const deployed = { open: async () => {}, view, hostOf: () => app.host(), onChange: () => () => {},
    ended: () => {} }
  const { door, as } = await openKeyed({ serving: { ...twins.serving, view } }, {
    deployed,
  })
  await activeIn(twins, 'shop', { hosts: ['shop.example'] })
  const below = await call(door, 'GET', '/d/shop/hello?name=x')
  expect([below.status, below.json['url']]).toEqual([200, `${door.url}/hello?name=x`])
  expect((await call(door, 'GET', '/hello')).status).not.toBe(200)
  expect((await call(door, 'GET', '/d/other/hello')).status).toBe(401)
  expect(await plainStatus(door.url, '/hello', { host: 'shop.example' })).toBe(200)
  const acme = await as('acme')
  const wrapped = await acme('POST', '/d/shop/threads/search', {})
  expect([wrapped.status, wrapped.headers.get('x-wrapped')]).toEqual([200, 'yes'])
  const own = await acme('POST', '/threads/search', {})
  expect(own.headers.get('x-wrapped')).toBeNull()
  // Pages may call what middleware wraps, by the settings of the deployment.
  for (const path of ['/d/shop/threads/search', '/d/shop/hello']) {
    const asked = await call(door, 'OPTIONS', path, undefined, { origin: page,
      'access-control-request-method': 'POST' })
    expect([path, asked.status, asked.headers.get('access-control-allow-origin'),
      asked.headers.get('access-control-allow-methods')]).toEqual([path, 204, page, 'POST'])
  }
  const ofPage = await acme('POST', '/d/shop/threads/search', {}, { origin: page })
  expect([ofPage.status, ofPage.headers.get('access-control-allow-origin')]).toEqual([200, page])
  expect(await acme('POST', '/threads/search', {}, { origin: page })).toMatchObject({ status: 403 })
})

it('Open routes of the app of a deployment have a limit of their own.', async () => {
  const twins = memoryDeployments()
  const view = (namespace: string) => ({ ...twins.serving.view(namespace)!,
    settings: { ...usualSettings, http: { app: './app.ts:app' } } })
  const deployed = { open: async () => {}, view, hostOf: () => app.host(), onChange: () => () => {},
    ended: () => {} }
  const charge = deploymentGate({ clients: ownCounters(rateLimits('us')).clients,
    addressOf: addressReader([]) })
  const { door, as } = await openKeyed({ serving: { ...twins.serving, view }, charge }, {
    deployed,
  })
  const { limits } = await activeIn(twins)
  await twins.records.change(await twins.records.get('shop'), {
    limits: { ...limits, body_mb: 1, requests: { count: 2, interval_s: 3_600 } },
  })
  const statuses = async () => (await call(door, 'GET', '/d/shop/hello')).status
  expect([await statuses(), await statuses(), await statuses()]).toEqual([200, 200, 429])
  const acme = await as('acme')
  expect((await acme('POST', '/d/shop/threads/search', {})).status).toBe(200)
})

it('An app that ends while it answers is an error that may be tried again.', async () => {
  const door = await openOwn()
  const { status, json } = await call(door, 'GET', '/exit')
  expect([status, json['code']]).toEqual([503, 'unavailable'])
  expect((await call(door, 'GET', '/hello')).status).toBe(200)
})
