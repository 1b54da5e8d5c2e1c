/** Limits over real HTTP: who is charged, and what a refusal looks like in every protocol. */

import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { describe, expect, it } from 'vitest'

import { RunService } from '../../../proto/gen/frontdoor/v1/run_pb.js'
import { ThreadService } from '../../../proto/gen/frontdoor/v1/thread_pb.js'
import { keyAdmin } from '../../../src/access/index.ts'
import { addressReader, limitGate } from '../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../src/frontdoor/index.ts'
import { rateLimits } from '../../../src/limits/index.ts'
import type { LimitOverride } from '../../../src/limits/limit-rows.ts'
import { ipRange } from '../../../src/settings/ip-address.ts'
import { virtualEnv } from '../../support/env.ts'
import { MemoryKeys } from '../../support/memory-keys.ts'
import { issuer, keySetFile, token } from '../../support/sessions.ts'
import { wires } from '../../support/wires.ts'
import { call, openDoor } from '../frontdoor/open-front-door.ts'
import { ownCounters } from './own-counters.ts'

/** The rows of `us` with other counts, and counters in this process. */
function limits(counts: Readonly<Record<string, number>>,
  proxies: readonly string[] = []): Partial<FrontDoorOptions> {
  const overrides = new Map<string, LimitOverride>(
    Object.entries(counts).map(([name, count]) => [name, { count }]),
  )
  const rows = rateLimits('us', overrides)
  const { clients } = ownCounters(rows)
  const addressOf = addressReader(proxies.map((text) => ipRange(text)!))
  return { limit: limitGate({ rows, clients, addressOf }) }
}

const path = `/threads/${randomUUID()}`
const mine = { 'x-api-key': 'mine' }

describe('a request within its limit', () => {
  it('is answered with the remaining count', async () => {
    const door = await openDoor(limits({ 'default-key': 3 }))
    for (const left of [2, 1, 0]) {
      const answer = await call(door, 'POST', '/threads/search', {}, mine)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('ratelimit')).toBe(`"default-key";r=${left}`)
      expect(answer.headers.get('ratelimit-policy')).toBe('"default-key";q=3;w=10')
    }
  })

  it('is answered without limit headers if the server has no limits', async () => {
    const answer = await call(await openDoor(), 'GET', '/info', undefined, mine)
    expect(answer.headers.get('ratelimit')).toBeNull()
  })
})

describe('a request over its limit', () => {
  it('is refused with the limit and when to retry', async () => {
    const door = await openDoor(limits({ 'default-key': 1 }))
    const began = performance.now()
    await call(door, 'GET', path, undefined, mine)
    const answer = await call(door, 'GET', path, undefined, mine)
    const passed = (performance.now() - began) / 1_000
    expect(answer.status).toBe(429)
    expect(answer.json).toEqual({
      error: 'Too Many Requests',
      code: 'limited',
      detail: answer.json.message,
      message: expect.stringMatching(/^More than 1 requests in 10 seconds, .* Default \(API key\)/),
      limit: { row: 'default-key', count: 1, intervalSeconds: 10 },
    })
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    const after = Number(answer.headers.get('retry-after'))
    expect(after).toBeGreaterThanOrEqual(Math.floor(10 - passed))
    expect(after).toBeLessThanOrEqual(11)
    expect(answer.headers.get('ratelimit-policy')).toBe('"default-key";q=1;w=10')
    expect(answer.headers.get('ratelimit')).toBe(`"default-key";r=0;t=${after}`)
  })

  it('is refused before its body is read', async () => {
    const door = await openDoor(limits({ 'default-key': 1 }))
    await call(door, 'GET', path, undefined, mine)
    const { hostname, port } = new URL(door.url)
    const socket = connect(Number(port), hostname)
    socket.write(`POST /threads HTTP/1.1\r\nHost: ${hostname}\r\nx-api-key: mine\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n{')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 429 /)
  })

  it('can be read by the page that sent it', async () => {
    const door = await openDoor(limits({ 'catch-all': 1 }))
    const origin = { origin: 'http://localhost:3000' }
    await call(door, 'GET', path, undefined, origin)
    const { status, headers } = await call(door, 'GET', path, undefined, origin)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([429, origin.origin])
    for (const name of ['Retry-After', 'RateLimit', 'RateLimit-Policy']) {
      expect(headers.get('access-control-expose-headers')?.split(', ')).toContain(name)
    }
  })

  it('does not affect clients with another key, or none', async () => {
    const door = await openDoor(limits({ 'default-key': 1 }))
    const statusWith = async (headers: Record<string, string>) =>
      (await call(door, 'GET', '/threads/x/nothing', undefined, headers)).status
    expect(await statusWith(mine)).toBe(404)
    expect(await statusWith(mine)).toBe(429)
    expect(await statusWith({ 'x-api-key': 'another' })).toBe(404)
    expect(await statusWith({ 'x-api-key': ' ' })).toBe(404)
    expect(await statusWith({ 'x-user-id': 'somebody' })).toBe(404)
    expect(await statusWith({})).toBe(404)
    expect(await statusWith({ ...mine, 'x-user-id': 'somebody' })).toBe(429)
  })

  it('is counted per user and address, or per key at any address', async () => {
    const proxied = limits({ 'default-user': 1, 'default-key': 1 }, ['127.0.0.0/8'])
    const door = await openDoor(proxied)
    const statusOf = async (address: string, who: Record<string, string>) =>
      (await call(door, 'GET', path, undefined, { 'x-forwarded-for': address, ...who })).status
    const [here, there, user] = ['203.0.113.1', '203.0.113.2', { 'x-user-id': 'ann' }]
    expect([await statusOf(here, user), await statusOf(here, user)]).toEqual([404, 429])
    expect([await statusOf(there, user), await statusOf(there, user)]).toEqual([404, 429])
    expect([await statusOf(here, mine), await statusOf(there, mine)]).toEqual([404, 429])
  })

  it('cannot be disguised', async () => {
    const door = await openDoor(limits({ 'generate-key': 1 }))
    const statuses = []
    for (const at of ['/datasets/a/generate', '/api/v1//datasets/a/generate?x',
      '/datasets/b/%67enerate/', '/x/../datasets/a/generate', '/api/generate']) {
      statuses.push((await call(door, 'POST', at, {}, mine)).status)
    }
    expect(statuses).toEqual([404, 429, 429, 429, 429])
  })

  it('counts even if its path is malformed or very long', async () => {
    const door = await openDoor(limits({ 'default-key': 1 }))
    await call(door, 'GET', path, undefined, mine)
    for (const strange of ['/threads/%zz', '/%', '/%ff', `/threads/${'x'.repeat(9_000)}`]) {
      expect((await call(door, 'GET', strange, undefined, mine)).status, strange).toBe(429)
    }
  })

  it('may be an OPTIONS or /info request: these share a counter per address', async () => {
    const door = await openDoor(limits({ edge: 2 }))
    const preflight = { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' }
    expect((await call(door, 'OPTIONS', path, undefined, preflight)).status).toBe(204)
    expect((await call(door, 'GET', '/info', undefined, mine)).status).toBe(200)
    expect((await call(door, 'OPTIONS', path, undefined, preflight)).status).toBe(429)
    expect((await call(door, 'GET', '/info')).status).toBe(429)
    expect((await call(door, 'GET', '/openapi.json')).status).toBe(200)
  })

  it('is never a plain health check', async () => {
    const door = await openDoor(limits({ 'catch-all': 1 }))
    for (const _ of [1, 2, 3]) expect((await call(door, 'GET', '/ok')).status).toBe(200)
    expect((await call(door, 'GET', '/ok?check_db=1')).status).toBe(200)
    expect((await call(door, 'GET', '/ok?check_db=1')).status).toBe(429)
  })

  it('is counted for the address that a trusted proxy names', async () => {
    const one = { 'catch-all': 1 }
    const [trusting, other] = [await openDoor(limits(one, ['127.0.0.0/8', '::1'])),
      await openDoor(limits(one))]
    const statusFrom = async (door: { readonly url: string }, address: string) =>
      (await call(door, 'GET', '/openapi.json', undefined, { 'x-forwarded-for': address }))
        .status
    expect(await statusFrom(trusting, '1.2.3.4')).toBe(200)
    expect(await statusFrom(trusting, '1.2.3.4')).toBe(429)
    expect(await statusFrom(trusting, '1.2.3.5')).toBe(200)
    expect(await statusFrom(other, '1.2.3.4')).toBe(200)
    expect(await statusFrom(other, '1.2.3.5')).toBe(429)
  })
})

describe('with authentication', () => {
  const asking = async (counts: Readonly<Record<string, number>>) => {
    const keys = new MemoryKeys()
    const door = await openDoor({ ...limits(counts),
      auth: { keys, region: 'us', regionUrls: { us: '', eu: 'https://eu.example' },
        addressOf: addressReader([]), sessions: { issuer, audience: '', keys: keySetFile() } } })
    const desk = keyAdmin({ table: keys, region: 'us', env: virtualEnv() })
    const make = async (tenant: string) =>
      (await desk.create({ tenant, role: 'developer', name: '', expiresInMs: null })).key
    const statusOf = async (headers: Record<string, string>) =>
      (await call(door, 'POST', '/threads/search', {}, headers)).status
    return { make, statusOf }
  }

  it('unknown keys are charged to their address, however many are made up', async () => {
    const { make, statusOf } = await asking({ 'catch-all': 3 })
    const key = await make('acme')
    const madeUp = ['A', 'B', 'C', 'D'].map((end) => ({
      'x-api-key': `${key.slice(0, -4)}XYZ${end}`,
    }))
    const statuses = []
    for (const headers of madeUp) statuses.push(await statusOf(headers))
    expect(statuses).toEqual([401, 401, 401, 429])
    expect(await statusOf({})).toBe(429)
    expect(await statusOf({ 'x-api-key': key })).toBe(200)
  })

  it('a key, a user and an anonymous client have a limit each', async () => {
    const { make, statusOf } = await asking({ 'default-key': 1, 'default-user': 1, 'catch-all': 1 })
    const mine = { 'x-api-key': await make('acme') }
    const user = { authorization: `Bearer ${token()}` }
    const statuses = []
    for (const headers of [mine, { 'x-api-key': await make('acme') }, user, {}, mine, user, {}]) {
      statuses.push(await statusOf(headers))
    }
    expect(statuses).toEqual([200, 200, 200, 401, 429, 429, 429])
  })

  it('a user that is only claimed counts as anonymous', async () => {
    const { statusOf } = await asking({ 'default-user': 1_000, 'catch-all': 2 })
    const statuses = []
    for (const id of ['a', 'b', 'c']) statuses.push(await statusOf({ 'x-user-id': id }))
    expect(statuses).toEqual([401, 401, 429])
  })
})

describe.each(wires)('%s', (_name, transportTo) => {
  it('refuses calls and streams as exhausted, with when to retry', async () => {
    const door = await openDoor(limits({ 'catch-all': 1 }))
    const transport = transportTo(door.url)
    const [threads, runs] = [createClient(ThreadService, transport),
      createClient(RunService, transport)]
    await threads.createThread({})
    const stream = async () => {
      for await (const _ of runs.streamRun({ run: { assistantId: 'agent' } })) expect.fail('told')
    }
    for (const ask of [() => threads.createThread({}), stream]) {
      const error = ConnectError.from(
        await ask().then(() => expect.fail('let through'), (caught: unknown) => caught),
      )
      expect([error.code, error.rawMessage]).toEqual([Code.ResourceExhausted,
        expect.stringMatching(/^More than 1 requests in 60 seconds/)])
      expect(error.metadata.get('retry-after')).toMatch(/^(6[01]|5\d)$/)
      expect(error.metadata.get('heddle-code')).toBe('limited')
    }
  })
})
