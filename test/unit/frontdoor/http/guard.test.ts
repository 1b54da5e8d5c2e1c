/** The guard of the front door: who gets in, who is refused and why, and who loses access. */

import { once } from 'node:events'

import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport,
  createGrpcWebTransport } from '@connectrpc/connect-node'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { fastify } from 'fastify'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'

import { RunService } from '../../../../proto/gen/frontdoor/v1/run_pb.js'
import { ThreadService } from '../../../../proto/gen/frontdoor/v1/thread_pb.js'
import { keyAdmin } from '../../../../src/access/index.ts'
import { operations } from '../../../../src/api/index.ts'
import type { CallerRole } from '../../../../src/access/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { Finding } from '../../../../src/frontdoor/http/caller.ts'
import { addGuard } from '../../../../src/frontdoor/http/guard.ts'
import { asLocal } from '../../../../src/frontdoor/http/identify.ts'
import type { App } from '../../../../src/frontdoor/http/route.ts'
import { mayRunCall } from '../../../../src/frontdoor/http/run-powers.ts'
import { addressReader, ownRouteHeader } from '../../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { ipRange } from '../../../../src/settings/ip-address.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { issuer, keySetFile, token } from '../../../support/sessions.ts'
import { viewOf } from '../fake-threads.ts'
import { call, openDoor } from '../open-front-door.ts'

const threadId = '0a0a0a0a-0000-4000-8000-000000000001'

async function guarded(options: Partial<FrontDoorOptions> = {},
  isFromTrustedProxy: () => boolean = () => false) {
  const keys = new MemoryKeys()
  const door = await openDoor({
    auth: { keys, region: 'us', regionUrls: { us: '', eu: 'https://eu.example' },
      sessions: { issuer, audience: '', keys: keySetFile() }, isFromTrustedProxy,
      addressOf: addressReader([ipRange('127.0.0.1')!]) },
    ...options,
  })
  door.threads.views.set(threadId, viewOf('acme', threadId, {}))
  const desk = keyAdmin({ table: keys, region: 'us', env: virtualEnv() })
  const make = (role: CallerRole = 'developer') =>
    desk.create({ tenant: 'acme', role, name: '', expiresInMs: null })
  const get = (headers: Record<string, string> = {}, path = `/threads/${threadId}`) =>
    call(door, 'GET', path, undefined, headers)
  /** Moves the clock second by second, with a turn of the event loop after each. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      door.env.advance(1_000)
      await new Promise(setImmediate)
    }
  }
  return { door, keys, desk, make, get, pass }
}

describe('a request', () => {
  it('without credentials is refused, with how to authenticate', async () => {
    const { get } = await guarded()
    const answer = await get()
    expect([answer.status, answer.json.code]).toEqual([401, 'unauthenticated'])
    expect(answer.json.detail).toMatch(/x-api-key/)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="heddle"')
    expect((await get({ 'x-user-id': 'ann' })).status).toBe(401)
    expect((await get({ 'x-user-id': 'ann', 'x-tenant-id': 'acme' })).status).toBe(401)
    expect((await get({ 'x-api-key': ' ', authorization: 'Basic YTpi' })).status).toBe(401)
    expect((await get({}, '/nowhere')).status).toBe(401)
  })

  it('with a key is for the tenant of the key', async () => {
    const { door, make, get } = await guarded()
    const { key } = await make()
    expect((await get({ 'x-api-key': key })).status).toBe(200)
    expect((await get({ authorization: `Bearer ${key}` })).status).toBe(200)
    const found = await call(door, 'POST', '/assistants/search', {}, { 'x-api-key': key })
    expect(JSON.parse(found.text)).toHaveLength(2)
    expect(await door.house.index.count({ tenant: 'acme' })).toBe(2)
    expect(await door.house.index.count({ tenant: 'local' })).toBe(0)
    expect((await get({ 'x-api-key': key }, '/nowhere')).status).toBe(404)
    expect(door.keyStats()).toMatchObject({ looks: 1, known: 1 })
  })

  it('with a session is for the tenant in it, and for its user only', async () => {
    const { get } = await guarded()
    const authorization = `Bearer ${token()}`
    expect((await get({ authorization })).status).toBe(200)
    expect((await get({ authorization, 'x-user-id': 'ann' })).status).toBe(200)
    expect((await get({ authorization, 'x-user-id': 'bob' })).status).toBe(401)
  })

  it('with a key and a session is authenticated by the key alone', async () => {
    const { make, get } = await guarded()
    const { key } = await make()
    expect((await get({ 'x-api-key': key, authorization: 'Bearer x.y.z' })).status).toBe(200)
    expect(
      (await get({ 'x-api-key': `${key.slice(0, -3)}XYZ`, authorization: `Bearer ${token()}` }))
        .status,
    ).toBe(401)
  })

  it('of a trusted proxy is for the user that the proxy names', async () => {
    const { get } = await guarded({}, () => true)
    expect((await get({ 'x-user-id': 'ann', 'x-tenant-id': 'acme' })).status).toBe(200)
    expect((await get({ 'x-user-id': 'ann' })).status).toBe(401)
    expect((await get({ 'x-user-id': 'ann', 'x-tenant-id': 'a b' })).status).toBe(401)
  })

  it('of a webhook to an own route has the powers of a run, also without keys', async () => {
    const door = await openDoor({})
    const closed = operations.map(({ operation }) => operation)
      .filter((operation) => operation.access !== 'public' && !mayRunCall(operation))
    const statuses = await Promise.all(closed.map(async ({ method, path }) => {
      const target = path.replaceAll(/:\w+/g, threadId)
      return (await call(door, method, target, undefined, { [ownRouteHeader]: '1' })).status
    }))
    // Operations that this door does not have are not found.
    expect([...new Set(statuses)].toSorted()).toEqual([403, 404])
    const own = await call(door, 'POST', '/threads/search', {}, { [ownRouteHeader]: '1' })
    expect(own.status).toBe(200)
  })

  it('with a key or session of another region gets the URL of that, without a lookup', async () => {
    const { get, keys } = await guarded()
    const answer = await get({ 'x-api-key': `hdl_eu_${'0'.repeat(16)}_${'x'.repeat(43)}` })
    expect([answer.status, answer.json.url]).toEqual([403, 'https://eu.example'])
    expect(answer.json.detail).toContain('region eu')
    expect(keys.looks).toEqual([])
    const session = (region: string) =>
      get({ authorization: `Bearer ${token({ claims: { region } })}` })
    expect(await session('eu')).toMatchObject({ status: 403, json: { url: 'https://eu.example' } })
    expect((await session('us')).status).toBe(200)
    expect((await session('mars')).status).toBe(401)
  })

  it('of a reader may read, and change nothing', async () => {
    const { door, make, get } = await guarded()
    const headers = { 'x-api-key': (await make('reader')).key }
    expect((await get(headers)).status).toBe(200)
    expect((await call(door, 'POST', '/threads/search', {}, headers)).status).toBe(200)
    const refused = await call(door, 'POST', '/threads', {}, headers)
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden'])
    const admin = { 'x-api-key': (await make('admin')).key }
    await call(door, 'POST', '/runs', { assistant_id: 'agent' }, admin)
    const { runId } = door.threads.lastRun.row
    const joined = await get(headers, `/runs/${runId}/stream?cancel_on_disconnect=true`)
    expect(joined.status).toBe(403)
  })

  it('is answered 503 with Retry-After while its key cannot be looked up', async () => {
    const { get, keys, make } = await guarded()
    const { key } = await make()
    keys.isReachable = false
    const answer = await get({ 'x-api-key': key })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await get({}, '/ok')).status).toBe(200)
  })

  it('may be anonymous for public paths and preflights', async () => {
    const { get, door } = await guarded()
    for (const path of ['/ok', '/info', '/docs', '/openapi.json']) {
      expect([path, (await get({}, path)).status]).toEqual([path, 200])
    }
    expect((await get({}, '/internal/cluster')).status).toBe(200)
    expect((await get({ 'x-forwarded-for': '1.2.3.4' }, '/internal/cluster')).status).toBe(404)
    const ask = { origin: 'http://localhost:3000', 'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key,authorization,x-user-id' }
    const asked = await call(door, 'OPTIONS', '/threads', undefined, ask)
    expect(asked.status).toBe(204)
    expect(asked.headers.get('access-control-allow-headers'))
      .toBe('x-api-key,authorization,x-user-id')
  })

  it('of a page that is refused has CORS headers, so that the page can read why', async () => {
    const { get } = await guarded()
    const { status, headers } = await get({ origin: 'http://localhost:3000' })
    expect([status, headers.get('access-control-allow-origin')])
      .toEqual([401, 'http://localhost:3000'])
    expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate')
  })
})

describe('a limit', () => {
  it('is charged for every request, even if it is refused', async () => {
    const charged: string[] = []
    const limit = async (_: unknown, { identity }: Finding) => {
      charged.push(identity.kind === 'key' ? `key ${identity.id !== undefined}` : identity.kind)
    }
    const { get, make, door } = await guarded({ limit })
    const { key } = await make()
    await get()
    await get({ 'x-api-key': key })
    await get({ 'x-api-key': `${key.slice(0, -3)}XYZ` })
    await get({ authorization: `Bearer ${token()}` })
    await get({}, '/ok')
    await call(door, 'OPTIONS', '/threads', undefined, { origin: 'http://localhost:3000',
      'access-control-request-method': 'POST' })
    expect(charged).toEqual(['nobody', 'key true', 'key false', 'user', 'nobody', 'nobody'])
  })

  it('is charged for made-up keys, even if they are too many to look up', async () => {
    const charged: string[] = []
    const limit = async (_: unknown, { identity }: Finding) => void charged.push(identity.kind)
    const { get, make, keys } = await guarded({ limit })
    const { key } = await make()
    const { promise, resolve } = Promise.withResolvers<void>()
    keys.held = promise
    const flood = Array.from({ length: 300 },
      (_, number) =>
        get({ 'x-forwarded-for': '192.0.2.1',
          'x-api-key': `hdl_us_${String(number).padStart(16, '0')}_${'x'.repeat(43)}` }))
    await expect.poll(() => charged.length).toBe(300 - 8 - 256)
    expect(new Set(charged)).toEqual(new Set(['nobody']))
    keys.held = Promise.resolve()
    expect((await get({ 'x-forwarded-for': '192.0.2.2', 'x-api-key': key })).status).toBe(200)
    resolve()
    const answers = await Promise.all(flood)
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(8 + 256)
    const refused = answers.find(({ status }) => status === 429)!
    expect(refused.json).toMatchObject({ code: 'full', detail: expect.stringMatching('address') })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(charged).toHaveLength(301)
  })

  it('is applied before authentication', async () => {
    const limit = () => Promise.reject(new HeddleError('full'))
    const { get } = await guarded({ limit })
    expect((await get()).status).toBe(429)
  })
})

describe('a client', () => {
  it('that reads a stream is cut off within five seconds once its key is revoked', async () => {
    const { door, make, desk, pass, get } = await guarded()
    const { key, id } = await make()
    const headers = { 'x-api-key': key }
    const response = await fetch(`${door.url}/runs/stream`, { method: 'POST',
      body: '{"assistant_id":"agent"}', headers })
    const { runId } = door.threads.lastRun.row
    await pass(10)
    door.threads.lastRun.notify([{ id: '1', name: 'updates', json: '{}' }])
    await desk.revoke(id)
    const ended = response.text().then(() => 'cleanly', () => 'broken off')
    await pass(5)
    expect(await ended).toBe('broken off')
    expect((await get(headers, `/runs/${runId}/stream`)).status).toBe(401)
  })

  it('that has a socket is cut off within five seconds once its key is revoked', async () => {
    const { door, make, desk, pass } = await guarded()
    const { key, id } = await make()
    const socket = new WebSocket(`${door.url.replace('http', 'ws')}/threads/${threadId}` +
      '/stream/events', { headers: { 'x-api-key': key } })
    const closed = once(socket, 'close')
    await once(socket, 'open')
    await desk.revoke(id)
    await pass(5)
    expect((await closed)[0]).toBe(4401)
  })

  it.each([[1, 401], [5, 200]])('that waits gets no result if its session ends after %i s',
    async (seconds, status) => {
      const { door, pass } = await guarded()
      const nowMs = door.env.nowMs()
      const authorization = `Bearer ${token({ nowMs, claims: { exp: nowMs / 1_000 + seconds } })}`
      const waiting = call(door, 'POST', '/runs/wait', { assistant_id: 'agent' }, { authorization })
      await expect.poll(() => door.threads.runs.size).toBe(1)
      await pass(seconds)
      expect((door.threads.given('joinRun') as AbortSignal).aborted).toBe(true)
      door.threads.lastRun.end('{"secret":1}')
      const answer = await waiting
      expect(answer.status).toBe(status)
      expect(JSON.parse(answer.text)).toMatchObject(status === 401
        ? { code: 'unauthenticated' }
        : { __error__: { error: 'unauthenticated' } })
    })
})

describe('a call of the typed API', () => {
  const transports = {
    'Connect': (baseUrl: string) => createConnectTransport({ baseUrl, httpVersion: '1.1' }),
    'Connect over HTTP/2': (baseUrl: string) =>
      createConnectTransport({ baseUrl, httpVersion: '2' }),
    'gRPC-Web': (baseUrl: string) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
    'gRPC': (baseUrl: string) => createGrpcTransport({ baseUrl }),
  }

  it.each(Object.entries(transports))('by %s is refused in its protocol', async (_, transport) => {
    const { door, make } = await guarded()
    const ended = transport(door.url)
    const threads = createClient(ThreadService, ended)
    const runs = createClient(RunService, ended)
    const codeOf = (promise: Promise<unknown>) =>
      promise.then(() => undefined, (caught: unknown) => ConnectError.from(caught).code)
    const all = async (headers: Record<string, string>) => {
      for await (const _ of runs.streamRun({ run: { assistantId: 'agent' } }, { headers }));
    }
    const key = (await make()).key
    const reader = { 'x-api-key': (await make('reader')).key }
    const eu = { 'x-api-key': `hdl_eu_${'0'.repeat(16)}_${'x'.repeat(43)}` }
    expect(await codeOf(threads.getThread({ threadId }))).toBe(Code.Unauthenticated)
    expect(await codeOf(threads.getThread({ threadId }, { headers: eu })))
      .toBe(Code.PermissionDenied)
    expect(await codeOf(threads.getThread({ threadId }, { headers: { 'x-api-key': key } })))
      .toBeUndefined()
    expect(await codeOf(threads.deleteThread({ threadId }, { headers: reader })))
      .toBe(Code.PermissionDenied)
    expect(await codeOf(all({}))).toBe(Code.Unauthenticated)
    expect(await codeOf(all(reader))).toBe(Code.PermissionDenied)
    const failure = await threads.getThread({ threadId }).then(() => undefined, ConnectError.from)
    expect(failure?.metadata.get('heddle-code')).toBe('unauthenticated')
    expect(failure?.rawMessage).toMatch(/API key/)
  })

  it('by another gRPC client is refused with its status', async () => {
    const { door } = await guarded()
    const client = new Client(new URL(door.url).host, credentials.createInsecure())
    const metadata = new Metadata()
    metadata.set('x-user-id', 'ann')
    const failure = await new Promise<{ code: number; details: string }>((failed) =>
      client.makeUnaryRequest('/frontdoor.v1.ThreadService/GetThread', (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes, Buffer.alloc(0), metadata, (error) => failed(error!))
    )
    client.close()
    expect([failure.code, failure.details]).toEqual([16, expect.stringContaining('API key')])
  })

  it('that streams ends once its key is revoked', async () => {
    const { door, make, desk, pass } = await guarded()
    const { key, id } = await make()
    const runs = createClient(RunService, createGrpcTransport({ baseUrl: door.url }))
    const stream = (async () => {
      for await (const _ of runs.streamRun({ run: { assistantId: 'agent' } }, {
        headers: { 'x-api-key': key },
      }));
    })().then(() => undefined, (caught: unknown) => ConnectError.from(caught).code)
    await expect.poll(() => door.threads.runs.size).toBe(1)
    await desk.revoke(id)
    await pass(5)
    expect(await stream).toBe(Code.Unauthenticated)
  })
})

it('A route that does not declare its access cannot be added.', () => {
  const app = fastify() as unknown as App
  addGuard(app, { ...asLocal, accessOf: new Map([['/docs/*', 'public']]) })
  app.get('/said', { config: { access: 'read' } }, () => '')
  app.get('/docs/static/*', () => '')
  expect(() => app.get('/unsaid', () => '')).toThrow('GET /unsaid says what it does')
  expect(() => app.get('/docsplus', () => '')).toThrow('says what it does')
})
