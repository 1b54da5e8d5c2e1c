/** Limits of a deployment at a front door: its requests, and the length of bodies. */

import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'

import { Code, ConnectError, createClient } from '@connectrpc/connect'
import { describe, expect, it, onTestFinished } from 'vitest'

import { ThreadService } from '../../../../proto/gen/frontdoor/v1/thread_pb.js'
import type { DeploymentLimits } from '../../../../src/deployment/index.ts'
import { addressReader, deploymentGate, limitGate } from '../../../../src/frontdoor/index.ts'
import { rateLimits, RefusedCallers } from '../../../../src/limits/index.ts'
import { wires } from '../../../support/wires.ts'
import { ownCounters } from '../../limits/own-counters.ts'
import { call } from '../open-front-door.ts'
import { activeIn, openKeyed, socketAt } from './deployment-door.ts'

const threadId = '0a0a0a0a-0000-4000-8000-000000000001'
const hour = (count: number) => ({ requests: { count, interval_s: 3_600 } })
const mebibyte = 1024 * 1024
const control = '/control/v1/deployments'

/** `shop`, which every tenant may call, with these limits. */
async function opened(limits: Partial<DeploymentLimits>,
  { isRegion = false }: { readonly isRegion?: boolean } = {}) {
  const rows = rateLimits('us')
  const { env, clients } = ownCounters(rows)
  const addressOf = addressReader([])
  const refused = new RefusedCallers(env)
  const noted: string[] = []
  const all = await openKeyed({ charge: deploymentGate({ clients, addressOf, refused }),
    requested: async ({ name }, tenant) => void noted.push(`${name} ${tenant}`) }, { ...isRegion &&
    { limit: limitGate({ rows, clients, addressOf, refused }) } })
  const { records } = all.deployments
  const { limits: usual } = await activeIn(all.deployments, 'shop', { access: 'any' })
  const setLimits = async (change: Partial<DeploymentLimits>) =>
    await records.change(await records.get('shop'), { limits: { ...usual, ...change } })
  await setLimits(limits)
  return { ...all, clients, refused, noted, setLimits }
}

describe('the requests of a deployment', () => {
  it('are counted for all of its callers together, and refused before anything is done',
    async () => {
      const { door, as, noted, refused } = await opened(hour(3))
      const [mine, other] = [await as('acme'), await as('other')]
      for (const [send, left] of [[mine, 2], [other, 1], [mine, 0]] as const) {
        const { status, headers } = await send('POST', '/d/shop/threads/search', {})
        expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')])
          .toEqual([200, `"deployment";r=${left}`, '"deployment";q=3;w=3600'])
      }
      const { length } = door.threads.calls
      for (const send of [mine, other, other]) {
        const { status, headers, json } = await send('POST', '/d/shop/threads', {})
        expect([status, json['code'], json['limit']]).toEqual([429, 'limited', { row: 'deployment',
          count: 3, intervalSeconds: 3_600 }])
        expect(json['message']).toContain(
          '3 requests in 3600 seconds, which is the limit for the ' +
            'deployment',
        )
        const after = Number(headers.get('retry-after'))
        expect(after).toBeGreaterThan(3_500)
        expect(headers.get('ratelimit')).toBe(`"deployment";r=0;t=${after}`)
      }
      expect([door.threads.calls.length, noted.length]).toEqual([length, 3])
      expect(refused.of('acme')).toMatchObject([{ row: 'deployment', refused: 1 }])
      expect(refused.of('other')).toMatchObject([{ row: 'deployment', refused: 2 }])
    })

  it('are those at its host as well, and none of another deployment or of the server', async () => {
    const { door, deployments, as } = await opened(hour(1))
    await activeIn(deployments, 'calm')
    const send = await as('acme', 'admin')
    await deployments.records.change(await deployments.records.get('shop'), {
      hosts: ['shop.example.com'],
    })
    const atHost = { host: 'shop.example.com' }
    expect((await send('POST', '/d/shop/threads/search', {})).status).toBe(200)
    expect((await send('POST', '/d/calm/threads/search', {})).status).toBe(200)
    for (const path of ['/threads/search', '/d/calm/threads/search']) {
      expect([path, (await send('POST', path, {})).status]).toEqual([path, 200])
    }
    for (const path of [`${control}/shop`, '/limits', '/auth', `${control}/shop/secrets`]) {
      expect([path, (await send('GET', path)).status]).toEqual([path, 200])
    }
    expect((await call(door, 'GET', '/d/shop/threads/x')).status).toBe(401)
    expect((await send('GET', '/d/shop/auth', undefined, atHost)).status).toBe(429)
  })

  it('are none of callers that are not asked who they are, and none that are refused', async () => {
    const { door, as } = await opened(hour(1))
    for (const path of ['/ok', '/info', '/openapi.json', '/docs/']) {
      expect([path, (await call(door, 'GET', `/d/shop${path}`)).status]).toEqual([path, 200])
    }
    expect((await call(door, 'OPTIONS', '/d/shop/threads')).status).toBe(405)
    expect((await call(door, 'POST', '/d/shop/threads/search', {})).status).toBe(401)
    const send = await as('acme')
    expect((await send('GET', '/d/shop/keys')).status).toBe(404)
    const bound = await as('acme', 'developer', 'other')
    expect((await bound('GET', '/d/shop/threads/x')).status).toBe(404)
    expect((await send('POST', '/d/shop/threads/search', {})).status).toBe(200)
    expect((await send('POST', '/d/shop/threads/search', {})).status).toBe(429)
  })

  it('are counted anew after the limit was changed, and not at all without one', async () => {
    const { as, setLimits } = await opened(hour(1))
    const send = await as('acme', 'admin')
    const statuses = async (times: number) => {
      const found: number[] = []
      for (let n = 0; n < times; n++) {
        found.push((await send('POST', '/d/shop/threads/search', {})).status)
      }
      return found
    }
    expect(await statuses(2)).toEqual([200, 429])
    const answer = await send('PATCH', `${control}/shop`, { limits: hour(2) })
    expect(answer.json).toMatchObject({ limits: { workers: 2, body_mb: 25, ...hour(2) } })
    expect(await statuses(3)).toEqual([200, 200, 429])
    const removed = await send('PATCH', `${control}/shop`, { limits: { requests: null } })
    expect(removed.json).toMatchObject({ limits: { requests: null } })
    expect(await statuses(3)).toEqual([200, 200, 200])
    await setLimits(hour(1))
    expect(await statuses(1)).toEqual([429])
  })

  it('are charged to the limits of the server first', async () => {
    const { as, clients } = await opened(hour(1), { isRegion: true })
    const send = await as('acme')
    const { headers } = await send('POST', '/d/shop/threads/search', {})
    expect(headers.get('ratelimit')).toBe('"default-key";r=999, "deployment";r=0')
    expect(headers.get('ratelimit-policy'))
      .toBe('"default-key";q=1000;w=10, "deployment";q=1;w=3600')
    expect((await send('POST', '/d/shop/threads/search', {})).headers.get('ratelimit'))
      .toMatch(/^"default-key";r=998, "deployment";r=0;t=\d+$/)
    expect(clients.tallies.get('default-key')).toMatchObject({ admitted: 2 })
    expect(clients.tallies.get('deployment')).toMatchObject({ admitted: 1, refused: 1 })
  })

  it('are the frames of its WebSockets, too', async () => {
    const { door, keyOf } = await opened(hour(2))
    const url = `${door.url}/d/shop/threads/${threadId}/stream/events`
    const { socket, next } = socketAt(url, await keyOf('acme'))
    const ask = async (id: number) => {
      const answered = next('message')
      socket.send(JSON.stringify({ id, method: 'agent.getTree', params: {} }))
      return String(await answered)
    }
    await next('open')
    expect(await ask(1)).not.toContain('the limit for the deployment')
    expect(await ask(2)).toContain('the limit for the deployment')
  })
})

describe('a body of a deployment', () => {
  const run = (bytes: number) =>
    JSON.stringify({ assistant_id: 'agent', input: { text: 'x'.repeat(bytes) } })

  it('is answered 413 if it is longer than its limit, and then not counted', async () => {
    const { door, deployments, as } = await opened({ body_mb: 1, ...hour(1) })
    await activeIn(deployments, 'calm')
    const send = await as('acme')
    const long = await send('POST', '/d/shop/runs', run(mebibyte))
    expect([long.status, long.json['code'], long.json['message']]).toEqual([413, 'too_large',
      'The body is longer than 1 MB, which is the limit of the deployment.'])
    expect((await send('POST', '/d/shop/runs', run(mebibyte - 100))).status).toBe(200)
    for (const path of ['/d/calm/runs', '/runs']) {
      expect([path, (await send('POST', path, run(mebibyte))).status]).toEqual([path, 200])
    }
    expect(door.threads.calls.filter(({ name }) => name === 'startRun')).toHaveLength(3)
  })

  it.each(['content-length: 9000000', 'transfer-encoding: chunked'])(
    'is answered while the client still sends, and the connection continues: %s',
    async (framing) => {
      const { door, keyOf } = await opened({ body_mb: 1 })
      const { hostname, port, host } = new URL(door.url)
      const socket = connect(Number(port), hostname)
      onTestFinished(() => void socket.destroy())
      let received = ''
      socket.on('data', (chunk: Buffer) => received += chunk.toString())
      const head = `host: ${host}\r\nx-api-key: ${await keyOf('acme')}\r\n`
      socket.write(`POST /d/shop/threads HTTP/1.1\r\n${head}${framing}\r\n\r\n`)
      const isChunked = framing.startsWith('transfer')
      const blank = ' '.repeat(100_000)
      const piece = isChunked ? `${blank.length.toString(16)}\r\n${blank}\r\n` : blank
      const write = async () => {
        if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve))
      }
      for (let sent = 0; sent < 30; sent++) await write()
      await expect.poll(() => received).toMatch(/^HTTP\/1.1 413 [^]*"code":"too_large"/)
      for (let sent = 30; sent < 90; sent++) await write()
      if (isChunked) socket.write('0\r\n\r\n')
      socket.write(`GET /d/shop/ok HTTP/1.1\r\n${head}\r\n`)
      await expect.poll(() => received).toMatch(/\{"ok":true\}$/)
    },
  )

  it.each([0.5, 1.5])('is read over HTTP/2 up to its limit: %d MB', async (megabytes) => {
    const { door, keyOf } = await opened({ body_mb: 1 })
    const session = connectHttp2(door.url)
    onTestFinished(() => session.destroy())
    const stream = session.request({ ':method': 'POST', ':path': '/d/shop/runs',
      'x-api-key': await keyOf('acme') }, { endStream: false })
    const status = new Promise((resolve, reject) => {
      stream.on('error', reject).on('response', (headers) => resolve(headers[':status']))
    })
    stream.resume().end(run(megabytes * mebibyte))
    expect(await status).toBe(megabytes < 1 ? 200 : 413)
  })

  it('ends its WebSocket if it is a frame', async () => {
    const { door, keyOf } = await opened({ body_mb: 1 })
    const url = `${door.url}/d/shop/threads/${threadId}/stream/events`
    const { socket, next } = socketAt(url, await keyOf('acme'))
    await next('open')
    const closed = next('close')
    socket.send('x'.repeat(mebibyte + 1))
    expect((await closed)[0]).toBe(1_009)
  })
})

describe.each(wires)('%s', (_name, transportTo) => {
  it('refuses a call over a limit of its deployment as exhausted', async () => {
    const { door, keyOf } = await opened({ body_mb: 1, ...hour(1) })
    const headers = { 'x-api-key': await keyOf('acme') }
    const threads = createClient(ThreadService, transportTo(`${door.url}/d/shop`))
    const refusal = async (metadataJson: Uint8Array) =>
      ConnectError.from(await threads.createThread({ metadataJson }, { headers })
        .then(() => expect.fail('let through'), (caught: unknown) => caught))
    // One that does not say how long it is is charged before it is read.
    const long = await refusal(Buffer.alloc(2 * mebibyte, ' '))
    expect([long.code, long.metadata.get('heddle-code'), long.rawMessage]).toEqual([
      Code.ResourceExhausted,
      'too_large',
      expect.stringContaining('longer than 1 MB'),
    ])
    const { code, metadata } = await refusal(Buffer.from('{}'))
    expect([code, metadata.get('heddle-code')]).toEqual([Code.ResourceExhausted, 'limited'])
    expect(Number(metadata.get('retry-after'))).toBeGreaterThan(3_500)
  })
})
