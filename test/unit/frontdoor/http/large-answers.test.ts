/** Answers that would be too long are refused while they are gathered; unread ones are cut. */

import { connect } from 'node:http2'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'

import { addressReader } from '../../../../src/frontdoor/index.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { isNight } from '../../../support/repeats.ts'
import { dial } from '../../../support/wire.ts'
import { viewOf } from '../fake-threads.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const megabyte = 1024 * 1024
const state = JSON.stringify({ long: 'x'.repeat(5 * megabyte), last: 'z' })

async function doorWithStates(count: number) {
  const door = await openDoor()
  for (let n = 0; n < count; n++) {
    const threadId = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    door.threads.views.set(threadId, viewOf('local', threadId, {}, state))
  }
  const search = (body: object) => call(door, 'POST', '/threads/search', { limit: 1_000, ...body })
  return { door, search }
}

describe('a search over large states', () => {
  it('is refused with 413 once its answer is too long, and reads no further', async () => {
    const { door, search } = await doorWithStates(1_000)
    const { status, json } = await search({})
    expect([status, json['message']]).toEqual([413, 'The answer would be longer than 128 MB: ' +
      'ask for a smaller page with "limit".'])
    expect(door.threads.shown).toBe(Math.floor(128 / 5) + 1)
  })

  it('is answered if it shows little of them', async () => {
    const { search } = await doorWithStates(30)
    const extract = { last: 'values.last' }
    const { status, headers, json } = await search({ select: ['thread_id'], extract })
    expect([status, headers.get('x-pagination-total')]).toEqual([200, '30'])
    expect(json).toHaveLength(30)
    expect((json as unknown as object[])[0]).toEqual({
      thread_id: '00000000-0000-4000-8000-000000000000',
      extracted: { last: 'z' },
    })
  })

  it('is refused if it shows the same value under many names', async () => {
    const { door, search } = await doorWithStates(10)
    const extract = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`n${n}`, 'values']))
    const { status } = await search({ select: ['thread_id'], extract })
    expect([status, door.threads.shown]).toEqual([413, 3])
  })

  it('parses long paths once, not for each thread', async () => {
    const { door, search } = await doorWithStates(0)
    for (let n = 0; n < 1_000; n++) door.threads.views.set(`${n}`, viewOf('local', `${n}`, {}))
    const paths = Array.from({ length: 10 }, (_, n) => [`n${n}`, `values${'['.repeat(494)}`])
    const beganMs = performance.now()
    const { status } = await search({ select: [], extract: Object.fromEntries(paths) })
    expect(status).toBe(200)
    expect(performance.now() - beganMs).toBeLessThan(1_500)
  })
})

describe('a long answer', () => {
  const threadId = '00000000-0000-4000-8000-000000000000'
  const doorWith = async (values: string, options = {}) => {
    const door = await openDoor(options)
    door.threads.views.set(threadId, viewOf('local', threadId, {}, values))
    return door
  }
  const request = async (door: OpenDoor, line: string, body = '', type = 'json', tenant = '') => {
    const socket = await dial(door.url)
    onTestFinished(() => void socket.destroy())
    socket.pause().write(`${line} HTTP/1.1\r\nhost: localhost\r\n` +
      `x-user-id: ann\r\nx-tenant-id: ${tenant}\r\n` +
      `content-type: application/${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    return socket
  }
  const ask = (door: OpenDoor) => request(door, `GET /threads/${threadId}`)
  /** A protobuf message: field 1 is the thread id, whose length is the code of the dollar. */
  const askTyped = (door: OpenDoor) =>
    request(door, 'POST /frontdoor.v1.ThreadService/GetThread', `\n$${threadId}`, 'proto')
  const search = async (door: OpenDoor) => (await call(door, 'POST', '/threads/search', {})).status

  const ways = { REST: ask, 'the typed API': askTyped }

  it.each(['REST', 'the typed API'] as const)('of %s takes room until it is read', async (api) => {
    const door = await doorWith(JSON.stringify({ long: 'x'.repeat(16 * megabyte) }))
    using others = new DisposableStack()
    for (let n = 0; n < 4; n++) {
      others.use(door.reads.share(`other ${n}`)).hold({ length: 116 * megabyte })
    }
    expect(await search(door)).toBe(200)
    const readers = [await ways[api](door), await ways[api](door)]
    await expect.poll(() => door.stats().requests).toBe(2)
    expect(await search(door)).toBe(503)
    readers[0]!.resume()
    await expect.poll(() => door.stats().requests).toBe(1)
    expect(await search(door)).toBe(200)
  })

  it.runIf(isNight)('is cut off if its tenant has too much unread and it is the oldest of them',
    async () => {
      const door = await doorWith(JSON.stringify({ long: 'x'.repeat(40 * megabyte) }), {
        unread: { ofTenant: 100 * megabyte },
        auth: { keys: new MemoryKeys(), region: 'us', regionUrls: {}, sessions: null,
          addressOf: addressReader([]), isFromTrustedProxy: () => true },
      })
      const readers: { socket: Socket; read: number }[] = []
      for (const tenant of ['other', 'acme', 'acme', 'acme']) {
        const socket = await request(door, `GET /threads/${threadId}`, '', 'json', tenant)
        const reader = { socket, read: 0 }
        socket.on('error', () => {}).on('data', ({ length }: Buffer) => {
          reader.read += length
        })
        readers.push(reader)
        await expect.poll(() => door.threads.calls).toHaveLength(readers.length)
      }
      await expect.poll(() => door.stats().requests).toBe(3)
      for (const { socket } of readers) socket.resume()
      await expect.poll(() => door.stats().requests).toBe(0)
      await expect.poll(() => readers.map(({ read }) => read > 40 * megabyte))
        .toEqual([true, false, true, true])
    })

  it.each(['REST', 'the typed API', 'HTTP/2'] as const)(
    'is dropped if its client reads none of it: %s',
    async (way) => {
      // More than the buffers of a connection take.
      const door = await doorWith(JSON.stringify({ long: 'x'.repeat(16 * megabyte) }), {
        unread: { patienceMs: 200 },
      })
      const waiting = call(door, 'POST', '/runs/wait', { assistant_id: 'agent' })
      await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('joinRun')
      if (way === 'HTTP/2') {
        const session = connect(door.url)
        onTestFinished(() => session.destroy())
        session.on('error', () => {}).request({ ':path': `/threads/${threadId}` })
          .on('error', () => {}).end()
      } else {
        await ways[way](door)
      }
      await expect.poll(() => door.stats().requests).toBe(2)
      await expect.poll(() => door.stats().requests).toBe(1)
      door.threads.lastRun.end('{"a":1}')
      expect((await waiting).json).toEqual({ a: 1 })
    },
  )

  it.runIf(isNight)('is dropped even if its headers were sent before it was ready', async () => {
    const door = await openDoor({ unread: { patienceMs: 200 } })
    const socket = await request(door, 'POST /runs/wait', '{"assistant_id":"agent"}')
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
    }).resume()
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('joinRun')
    door.env.advance(2_100)
    await expect.poll(() => received).toContain('200 OK')
    socket.pause()
    door.threads.lastRun.end(JSON.stringify({ long: 'x'.repeat(40 * megabyte) }))
    await expect.poll(() => door.stats().requests).toBe(0)
  })

  it.runIf(isNight)('is dropped even if it is the last event of a typed stream', async () => {
    const door = await openDoor({ unread: { patienceMs: 200 } })
    // A message in its envelope: a run of an assistant whose name has five characters.
    const message = '\0\0\0\0\u0009\n\u0007\u0012\u0005agent'
    await request(door, 'POST /frontdoor.v1.RunService/StreamRun', message, 'connect+proto')
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('followRun')
    const { lastRun } = door.threads
    lastRun.notify([{ id: '1', name: 'values', json: `"${'x'.repeat(40 * megabyte)}"` }])
    lastRun.end()
    await expect.poll(() => door.stats().requests).toBe(0)
  })
})
