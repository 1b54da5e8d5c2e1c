/** One port for HTTP/1.1 and HTTP/2: the first bytes of a connection decide. */

import { connect as connectHttp2, constants } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'

import { openDoor } from '../open-front-door.ts'

const sessions: ClientHttp2Session[] = []
afterEach(() => {
  for (const session of sessions.splice(0)) session.destroy()
})

function ask(url: string, path: string, body?: string, headers: object = {}): ClientHttp2Stream {
  const session = connectHttp2(url)
  sessions.push(session)
  const method = body === undefined ? 'GET' : 'POST'
  const stream = session.request({ ':method': method, ':path': path, ...headers })
  stream.setEncoding('utf8').end(body)
  return stream
}

async function textOf(stream: ClientHttp2Stream): Promise<string> {
  let text = ''
  for await (const piece of stream) text += String(piece)
  return text
}

const statusOf = (stream: ClientHttp2Stream) =>
  new Promise<unknown>((resolve) => {
    stream.once('response', (headers) => resolve(headers[':status']))
  })

describe('HTTP/2', () => {
  it('is served beside HTTP/1.1', async () => {
    const door = await openDoor()
    expect(await textOf(ask(door.url, '/ok'))).toBe('{"ok":true}')
    expect(await (await fetch(`${door.url}/ok`)).text()).toBe('{"ok":true}')
  })

  it('carries streams of events, to their end', async () => {
    const door = await openDoor()
    const stream = ask(door.url, '/runs/stream', '{"assistant_id":"agent"}')
    expect(await statusOf(stream)).toBe(200)
    door.threads.lastRun.notify([{ id: '1', name: 'updates', json: '{}' }])
    door.threads.lastRun.end()
    expect(await textOf(stream)).toMatch(/^event: metadata\n[^]*id: 1\n\n$/)
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
  })

  it('resets a stream that breaks off, so that it differs from one that ends', async () => {
    const door = await openDoor()
    const stream = ask(door.url, '/runs/stream', '{"assistant_id":"agent"}')
    await statusOf(stream)
    door.threads.lastRun.end('{}', 'lost')
    await new Promise((resolve) => stream.resume().once('close', resolve))
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })

  it('closes an unused connection, later than load balancers do', async () => {
    const door = await openDoor()
    const stream = ask(door.url, '/runs/stream', '{"assistant_id":"agent"}')
    const session = stream.session!
    const left = new Promise((resolve) => session.once('goaway', resolve))
    await statusOf(stream)
    door.env.advance(600_000)
    door.threads.lastRun.end()
    expect(await textOf(stream)).toMatch(/^event: metadata\n/)
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
    await expect.poll(() => door.stats().requests).toBe(0)
    door.env.advance(620_000)
    await new Promise((resolve) => session.ping(resolve))
    expect(session.closed).toBe(false)
    door.env.advance(1_000)
    await left
  })

  it('gives up a request whose body does not come to its end', async () => {
    const door = await openDoor()
    const session = connectHttp2(door.url)
    sessions.push(session)
    const stream = session.request({ ':method': 'POST', ':path': '/threads' })
    stream.write('{"meta')
    await expect.poll(() => door.stats().requests).toBe(1)
    door.env.advance(300_000)
    expect(stream.closed).toBe(false)
    door.env.advance(1_000)
    await new Promise((resolve) => stream.once('close', resolve))
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL)
  })

  it('is also restricted to this machine', async () => {
    const door = await openDoor()
    expect(await statusOf(ask(door.url, '/ok', undefined, { ':authority': 'evil.example' })))
      .toBe(403)
  })
})

describe('a connection', () => {
  it('of HTTP/1.1 stays open longer than load balancers keep theirs', async () => {
    const { headers } = await fetch(`${(await openDoor()).url}/ok`)
    expect(headers.get('keep-alive')).toBe('timeout=620')
  })

  it.each([
    ['GET /ok HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', /\{"ok":true\}$/],
    ['POST /threads HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', /^HTTP\/1.1 200 /],
    ['PUT /ok HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', /^HTTP\/1.1 405 /],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0', /^\0\0.\u0004/],
  ])('may send its first bytes one by one: %j', async (words, answer) => {
    const door = await openDoor()
    const { hostname, port } = new URL(door.url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
    })
    await new Promise((resolve) => socket.once('connect', resolve))
    for (const letter of words) {
      await new Promise((resolve) => socket.write(letter, resolve))
      for (let turns = 0; turns < 3; turns += 1) {
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await expect.poll(() => received).toMatch(answer)
    socket.destroy()
  })
})

describe('a client', () => {
  const longest = 16 * 1024

  it('may send as many bytes of headers over HTTP/2 as over HTTP/1.1', async () => {
    const door = await openDoor()
    for (const [bytes, fits] of [[longest - 1_000, true], [longest + 1_000, false]] as const) {
      const headers = { 'x-a': 'eyJ-'.repeat(bytes / 4) }
      expect((await fetch(`${door.url}/ok`, { headers })).status).toBe(fits ? 200 : 431)
      const stream = ask(door.url, '/ok', undefined, headers)
      const status = statusOf(stream)
      expect(await textOf(stream)).toMatch(fits ? /^{"ok":true}$/ : /may have 16 KB in all/)
      expect(await status).toBe(fits ? 200 : 431)
    }
  })

  it('may have 100 requests at once on one connection', async () => {
    const door = await openDoor()
    const session = connectHttp2(door.url)
    sessions.push(session)
    const settings = await new Promise<{ maxConcurrentStreams?: number }>((resolve) => {
      session.once('remoteSettings', resolve)
    })
    expect(settings.maxConcurrentStreams).toBe(100)
  })

  it('may have so many connections, and new ones when some are closed', async () => {
    const door = await openDoor({ connections: { perAddress: 2, isExempt: () => false } })
    const open = () => connect(Number(new URL(door.url).port), '127.0.0.1')
    const closed = (socket: Socket) =>
      new Promise((resolve) => {
        socket.on('error', () => {}).once('close', resolve)
      })
    const [first, second] = [open(), open()]
    await Promise.all(
      [first, second].map((each) => new Promise((resolve) => each.once('connect', resolve))),
    )
    await closed(open())
    expect(door.stats().refusedConnections).toBe(1)
    first.destroy()
    await closed(first)
    await expect.poll(async () => {
      const answer = await fetch(`${door.url}/ok`).catch(() => undefined)
      return answer?.status
    }).toBe(200)
    second.destroy()
  })
})
