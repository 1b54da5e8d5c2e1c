/** Long lists: sent piece by piece, as fast as they are read, and given up with their client. */

import { connect } from 'node:http2'
import { describe, expect, it, onTestFinished } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { HistoryPart } from '../../../../src/thread/index.ts'
import { dial } from '../../../support/wire.ts'
import { viewOf } from '../fake-threads.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const megabyte = 1024 * 1024
const threadId = '00000000-0000-4000-8000-000000000000'
const path = `/threads/${threadId}/history`

async function doorWith(historyOf: OpenDoor['threads']['historyOf']): Promise<OpenDoor> {
  const door = await openDoor()
  door.threads.views.set(threadId, viewOf('local', threadId, {}))
  door.threads.historyOf = historyOf
  return door
}

const state = (n: number, length: number) => JSON.stringify({ n, x: '語'.repeat(length) })

/** Two states a part. */
function* parts(count: number, length: number): Generator<HistoryPart> {
  for (let n = 0; n < count; n += 2) {
    yield { states: [state(n, length), state(n + 1, length)], isLast: n + 2 >= count }
  }
}

describe('a history', () => {
  it.each([
    ['that is short', 2, 10],
    ['of one long part', 2, megabyte],
    ['of many short states', 5_000, 10],
    ['of long states', 4, megabyte],
  ])('%s is one JSON array', async (_, count, length) => {
    const door = await doorWith(() => parts(count, length))
    const { status, headers, json } = await call(door, 'POST', path, {})
    expect([status, headers.get('content-type')])
      .toEqual([200, 'application/json; charset=utf-8'])
    const states = json as unknown as { n: number; x: string }[]
    expect(states.map(({ n }) => n)).toEqual(Array.from({ length: count }, (__, n) => n))
    expect(new Set(states.map(({ x }) => x.length))).toEqual(new Set([length]))
  })

  it('is the same over HTTP/2, and as one message of the typed API', async () => {
    const door = await doorWith(() => parts(4, megabyte / 4))
    const session = connect(door.url)
    onTestFinished(() => session.destroy())
    const request = session.request({ ':path': path, ':method': 'POST' }).end('{}')
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    await new Promise((ended) => request.on('end', ended))
    expect((JSON.parse(text) as { n: number }[]).map(({ n }) => n)).toEqual([0, 1, 2, 3])
    const typed = await call(door, 'POST', '/frontdoor.v1.ThreadService/GetThreadHistory', {
      threadId,
    })
    const bytes = Buffer.from(String(typed.json['statesJson']), 'base64')
    expect(JSON.parse(bytes.toString())).toEqual(JSON.parse(text))
  })

  it('that fails before its first part has a status, and is broken off later', async () => {
    const failure = new HeddleError('unavailable', 'It changes.', { retryAfterSeconds: 5 })
    const early = await doorWith(() => {
      throw failure
    })
    const { status, headers } = await call(early, 'POST', path, {})
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    const late = await doorWith(function*() {
      yield* [...parts(4, megabyte)].slice(0, 1)
      throw failure
    })
    await expect(call(late, 'POST', path, {})).rejects.toThrow()
    expect(late.env.lines.map(({ message }) => message)).toContain('An answer was broken off.')
  })

  it('is read only as fast as its client reads, and no further once that has left', async () => {
    const seen = { read: 0, isGone: false, hasEnded: false }
    const door = await doorWith(async function*(cancelled) {
      cancelled?.addEventListener('abort', () => {
        seen.isGone = true
      })
      try {
        for (const part of parts(100, megabyte)) {
          seen.read += 1
          yield part
        }
      } finally {
        seen.hasEnded = true
      }
    })
    const socket = await dial(door.url)
    socket.pause().write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\n` +
      'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
    await expect.poll(() => seen.read).toBeGreaterThan(0)
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
    expect(seen.read).toBeLessThan(10)
    socket.destroy()
    await expect.poll(() => seen).toMatchObject({ isGone: true, hasEnded: true })
    expect(seen.read).toBeLessThan(10)
    await expect.poll(() => door.stats().requests).toBe(0)
  })
})

describe('a search', () => {
  it('takes memory until its answer is sent', async () => {
    const door = await openDoor()
    for (let n = 0; n < 20; n++) {
      const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
      const values = JSON.stringify({ x: 'x'.repeat(megabyte) })
      door.threads.views.set(id, viewOf('local', id, {}, values))
    }
    const socket = await dial(door.url)
    onTestFinished(() => void socket.destroy())
    const body = '{"limit":20}'
    socket.pause().write('POST /threads/search HTTP/1.1\r\nhost: localhost\r\n' +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await expect.poll(() => door.reads.stats.bytes).toBeGreaterThan(20 * megabyte)
    socket.resume()
    await expect.poll(() => door.reads.stats.bytes).toBe(0)
  })
})
