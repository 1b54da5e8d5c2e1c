/** Request bodies: whatever is sent is answered, and the next request works. */

import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'

import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const bodyLimitBytes = 64 * 1024

/** A raw connection on which the test writes anything. */
async function dial(door: OpenDoor): Promise<{ socket: Socket; received(): string }> {
  const { hostname, port } = new URL(door.url)
  let received = ''
  const socket = connect(Number(port), hostname)
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  return { socket, received: () => received }
}

const head = (door: OpenDoor) =>
  `POST /threads HTTP/1.1\r\nhost: ${new URL(door.url).host}\r\ncontent-type: application/json\r\n`

describe('a body', () => {
  it.each([
    ['application/json'],
    ['text/plain'],
    ['text/plain;charset=UTF-8'],
    ['application/x-www-form-urlencoded'],
    ['application/json; charset=utf-8'],
  ])('is read as JSON even if it is sent as %s', async (type) => {
    const door = await openDoor()
    const answer = await call(door, 'POST', '/threads', '{"metadata":{"a":1}}', {
      'content-type': type,
    })
    expect(answer.json).toMatchObject({ metadata: { a: 1 } })
  })

  it('is read as JSON without a content type', async () => {
    const door = await openDoor()
    const body = Buffer.from('{"metadata":{"a":1}}')
    const response = await fetch(`${door.url}/threads`, { method: 'POST', body })
    expect(response.headers.get('content-type')).toMatch(/json/)
    expect(await response.json()).toMatchObject({ metadata: { a: 1 } })
  })

  it.each(
    [['POST', '/threads', 200], ['GET', '/assistants/agent/schemas', 200], ['POST',
      '/threads/search', 200], ['POST', '/assistants', 422]] as const,
  )(
    'may be empty, with a content type and without: %s %s',
    async (method, path, status) => {
      const door = await openDoor()
      const json = { 'content-type': 'application/json' }
      for (const headers of [{}, json]) {
        for (const body of method === 'GET' ? [undefined] : [undefined, '', ' ']) {
          expect((await call(door, method, path, body, headers)).status).toBe(status)
        }
      }
    },
  )

  it('may not be compressed', async () => {
    const door = await openDoor()
    const sent = async (encoding: string, body: Buffer) => {
      const headers = { 'content-encoding': encoding }
      const response = await fetch(`${door.url}/threads`, { method: 'POST', headers, body })
      return { status: response.status, json: await response.json() as unknown }
    }
    expect(await sent('gzip', gzipSync('{}'))).toMatchObject({ status: 422, json: {
      message: 'Compressed bodies are not supported: send this one as it is, without ' +
        'content-encoding: gzip.',
    } })
    expect((await sent('identity', Buffer.from('{}'))).status).toBe(200)
  })

  it('may be empty for DELETE, with a content type', async () => {
    const door = await openDoor()
    const { json } = await call(door, 'POST', '/threads', {})
    const answer = await call(door, 'DELETE', `/threads/${String(json.thread_id)}`, undefined, {
      'content-type': 'application/json',
    })
    expect(answer.status).toBe(204)
  })

  it('may have brackets in strings, but is answered 422 if it is nested too deep', async () => {
    const door = await openDoor()
    const send = (metadata: string) => call(door, 'POST', '/threads', `{"metadata":${metadata}}`)
    const deep = '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)
    const answer = await send(deep)
    expect([answer.status, answer.json.message])
      .toEqual([422, 'The body is nested deeper than 500 levels.'])
    const brackets = JSON.stringify({ a: `\\"${'{['.repeat(2_000)}\\`, b: '}'.repeat(9) })
    expect((await send(brackets)).json).toMatchObject({ metadata: JSON.parse(brackets) as object })
    expect((await send(`{"a":${'['.repeat(400)}${']'.repeat(400)}}`)).status).toBe(200)
  })
})

describe('a body that is too large', () => {
  it.each(['content-length: 9000000', 'transfer-encoding: chunked'])(
    'is answered while the client still sends, and the connection continues: %s',
    async (framing) => {
      const door = await openDoor({ bodyLimitBytes })
      const { socket, received } = await dial(door)
      socket.write(`${head(door)}${framing}\r\n\r\n`)
      const size = 100_000
      const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`
      const piece = framing.startsWith('transfer') ? chunk : ' '.repeat(size)
      for (let sent = 0; sent < 90; sent += 1) {
        if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve))
      }
      if (framing.startsWith('transfer')) socket.write('0\r\n\r\n')
      await expect.poll(received).toMatch(/^HTTP\/1.1 413 [^]*"code":"too_large"/)
      socket.write(`GET /ok HTTP/1.1\r\nhost: ${new URL(door.url).host}\r\n\r\n`)
      await expect.poll(received).toMatch(/\{"ok":true\}$/)
      socket.destroy()
    },
  )

  it('is accepted up to the limit', async () => {
    const door = await openDoor({ bodyLimitBytes })
    const body = JSON.stringify({ metadata: { filler: 'x'.repeat(bodyLimitBytes - 100) } })
    expect((await call(door, 'POST', '/threads', body)).status).toBe(200)
  })
})

describe('bodies that are being received', () => {
  const crowded = () => openDoor({ bodiesLimitBytes: 100_000 })
  const statusOf = async (door: OpenDoor) => (await call(door, 'POST', '/threads', {})).status

  it('have a common limit: the next one is answered 429 until there is room', async () => {
    const door = await crowded()
    const { socket } = await dial(door)
    socket.write(`${head(door)}content-length: 80000\r\n\r\n{`)
    await expect.poll(() => statusOf(door)).toBe(429)
    const { headers, json } = await call(door, 'POST', '/threads', {})
    expect([headers.get('retry-after'), json.code]).toEqual(['1', 'full'])
    expect((await call(door, 'GET', '/info')).status).toBe(200)
    socket.destroy()
    await expect.poll(() => statusOf(door)).toBe(200)
  })

  it('count only until they are complete, however long the answer takes', async () => {
    const door = await crowded()
    for (let n = 0; n < 10; n += 1) {
      const body = JSON.stringify({ assistant_id: 'agent', input: 'x'.repeat(80_000) })
      expect((await fetch(`${door.url}/runs/stream`, { method: 'POST', body })).status).toBe(200)
    }
    expect(await statusOf(door)).toBe(200)
  })

  it.each(['/threads', '/frontdoor.v1.ThreadService/CreateThread'])(
    'are cut off at the limit if their length is not announced: %s',
    async (path) => {
      const door = await crowded()
      const session = connectHttp2(door.url)
      onTestFinished(() => session.destroy())
      const streams = [1, 2, 3].map(() => {
        const stream = session.request({ ':method': 'POST', ':path': path,
          'content-type': 'application/json' }, { endStream: false })
        stream.on('error', () => {}).write(' '.repeat(60_000))
        return stream
      })
      await expect.poll(() => streams.filter(({ closed }) => closed).length).toBe(1)
      expect(await statusOf(door)).toBe(429)
      session.destroy()
      await expect.poll(() => statusOf(door)).toBe(200)
    },
  )

  it('are none of OPTIONS, which needs no key: it is answered without', async () => {
    const door = await crowded()
    for (const framing of ['content-length: 80000', 'transfer-encoding: chunked']) {
      const { socket, received } = await dial(door)
      socket.write(`${head(door).replace('POST', 'OPTIONS')}${framing}\r\n\r\n`)
      await expect.poll(received).toMatch(/^HTTP\/1.1 4/)
      socket.destroy()
    }
  })

  it('are cut off at the limit if they are chunked', async () => {
    const door = await crowded()
    const dialled = await Promise.all([1, 2, 3].map(() => dial(door)))
    const chunked = `${head(door)}transfer-encoding: chunked\r\n\r\n`
    for (const { socket } of dialled) socket.write(chunked)
    await expect.poll(() => door.stats().requests).toBe(3)
    for (const { socket } of dialled) socket.write(`ea60\r\n${' '.repeat(60_000)}`)
    await expect.poll(() => dialled.filter(({ socket }) => socket.destroyed).length).toBe(1)
    for (const { socket } of dialled) socket.destroy()
    await expect.poll(() => statusOf(door)).toBe(200)
  })
})

describe('a connection', () => {
  it('may be cut in the middle of a body', async () => {
    const door = await openDoor()
    const [reset, closed] = [await dial(door), await dial(door)]
    for (const { socket } of [reset, closed]) {
      socket.write(`${head(door)}content-length: 100\r\n\r\n{"metadata":{"a":`)
    }
    reset.socket.resetAndDestroy()
    closed.socket.end()
    await new Promise((resolve) => closed.socket.once('close', resolve))
    expect(door.threads.calls).toEqual([])
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
    expect(door.env.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('may be cut before a body over HTTP/2, which does not count as an empty body', async () => {
    const door = await openDoor()
    const session = connectHttp2(door.url)
    session.request({ ':method': 'POST', ':path': '/threads' }, { endStream: false })
    await expect.poll(() => door.stats().requests).toBe(1)
    session.destroy()
    await expect.poll(() => door.stats().requests).toBe(0)
    expect((await call(door, 'POST', '/threads/count', {})).status).toBe(200)
    expect(door.threads.calls.map(({ name }) => name)).toEqual(['count'])
  })

  it('is answered 400 if it sends no HTTP', async () => {
    const door = await openDoor()
    const { socket, received } = await dial(door)
    socket.write('NONSENSE\r\n\r\n')
    await expect.poll(received).toMatch(/^HTTP\/1.1 400 /)
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
  })

  it('is closed after a minute if it sends nothing, even if it is one of hundreds', async () => {
    const door = await openDoor()
    const silent = await Promise.all(Array.from({ length: 300 }, () => dial(door)))
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
    await expect.poll(() => {
      door.env.advance(62_000)
      return silent.filter(({ socket }) => !socket.destroyed).length
    }).toBe(0)
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
  })
})
