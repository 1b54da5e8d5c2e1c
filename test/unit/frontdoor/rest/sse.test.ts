/** Streams of events: frames, heartbeats, slow readers, and readers that go. */

import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { backlog } from '../../../../src/frontdoor/http/backlog.ts'
import type { FeedEvent } from '../../../../src/thread/index.ts'
import { openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const event = (id: string, json = '{}', name = 'updates'): FeedEvent => ({ id, name, json })

async function stream(door: OpenDoor, body: object = {}, signal?: AbortSignal) {
  const response = await fetch(`${door.url}/runs/stream`, {
    method: 'POST',
    body: JSON.stringify({ assistant_id: 'agent', ...body }),
    ...(signal && { signal }),
  })
  return { response, run: door.threads.lastRun }
}

function rejoin(door: OpenDoor, runId: string, lastEventId?: string, query = '') {
  const headers = lastEventId === undefined ? undefined : { 'last-event-id': lastEventId }
  return fetch(`${door.url}/runs/${runId}/stream${query}`, { headers })
}

/** A reader that sends its request and, after the first event, reads only if it is resumed. */
async function slowReader(door: OpenDoor,
  version = '1.1'): Promise<{ socket: Socket; received(): string }> {
  const { hostname, port, host } = new URL(door.url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  socket.on('error', () => {})
  const body = '{"assistant_id":"agent"}'
  socket.write(`POST /runs/stream HTTP/${version}\r\nhost: ${host}\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`)
  await expect.poll(() => received).toContain('event: metadata')
  socket.pause()
  return { socket, received: () => received }
}

describe('a stream', () => {
  it('is frames of event, one line of data and id, and ends with the run', async () => {
    const door = await openDoor()
    const { response, run } = await stream(door)
    run.notify([event('1', '{"a":1}'), event('2', '[2]', 'values|sub:x')])
    run.end()
    expect(await response.text()).toBe(
      `event: metadata\ndata: {"run_id":"${run.row.runId}","attempt":1}\nid: 0\n\n` +
        'event: updates\ndata: {"a":1}\nid: 1\n\nevent: values|sub:x\ndata: [2]\nid: 2\n\n',
    )
  })

  it('has the event `end` only if it ends with the run', async () => {
    const door = await openDoor()
    for (const how of ['over', 'lost'] as const) {
      const { response, run } = await stream(door)
      run.notify([event('1'), event('2', '{"status":"success"}', 'end')])
      let text = ''
      const read = (async () => {
        for await (const chunk of response.body!) text += Buffer.from(chunk).toString()
      })().then(() => 'over', () => 'lost')
      await expect.poll(() => text).toContain('id: 1\n')
      expect(text).not.toContain('event: end')
      run.end('{}', how)
      expect(await read).toBe(how)
      expect(text.endsWith('event: end\ndata: {"status":"success"}\nid: 2\n\n'))
        .toBe(how === 'over')
    }
  })

  it('has no event `end` if the server leaves it out', async () => {
    const { response, run } = await stream(await openDoor({ streamEnd: false }))
    run.notify([event('1'), event('2', '{"status":"success"}', 'end')])
    run.end()
    expect(await response.text()).toMatch(/id: 1\n\n$/)
  })

  it('carries the headers that clients and proxies need', async () => {
    const door = await openDoor()
    const { response: { headers }, run } = await stream(door)
    run.end()
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'content-location': `/runs/${run.row.runId}`,
      location: `/runs/${run.row.runId}/stream`,
    })
  })

  it('has CORS headers for pages of this machine', async () => {
    const door = await openDoor()
    const origin = 'http://localhost:3000'
    const response = await fetch(`${door.url}/runs/stream`, { method: 'POST',
      body: '{"assistant_id":"agent"}', headers: { origin } })
    door.threads.lastRun.end()
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expect(response.headers.get('access-control-expose-headers')).toContain('Content-Location')
  })

  it('has a heartbeat after five seconds of silence, a comment with one line break', async () => {
    const door = await openDoor()
    const { response, run } = await stream(door)
    door.env.advance(4_900)
    run.notify([event('1')])
    door.env.advance(10_200)
    run.end()
    const text = await response.text()
    expect(text.slice(text.indexOf('id: 1'))).toBe('id: 1\n\n: heartbeat\n: heartbeat\n')
    expect(text.match(/heartbeat/g)).toHaveLength(2)
  })

  it('begins before there is any event', async () => {
    const door = await openDoor()
    const { response: first, run } = await stream(door)
    const second = await rejoin(door, run.row.runId, '0')
    expect(second.status).toBe(200)
    run.end()
    expect(await second.text()).toBe('')
    await first.text()
  })

  it('puts all events of one call into one write', async () => {
    const door = await openDoor()
    const { socket, received } = await slowReader(door)
    const chunks: string[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk.toString()))
    socket.resume()
    door.threads.lastRun.notify(Array.from({ length: 100 }, (_, n) => event(String(n + 1))))
    await expect.poll(received).toContain('id: 100\n')
    expect(chunks).toHaveLength(1)
    socket.destroy()
  })
})

describe('a reader that comes back', () => {
  it('gets the events after the last id it saw, and only the modes it wants', async () => {
    const door = await openDoor()
    const { response, run } = await stream(door)
    run.notify([event('1'), event('2')])
    run.end()
    await response.text()
    const again = await rejoin(door, run.row.runId, '1', '?stream_mode=updates&stream_mode=values')
    expect(await again.text()).toBe('event: updates\ndata: {}\nid: 2\n\n')
    expect(door.threads.given('followRun'))
      .toEqual({ after: '1', modes: ['updates', 'values'], made: false })
    expect(await (await rejoin(door, run.row.runId)).text()).toContain('event: metadata')
    expect(door.threads.given('followRun')).toEqual({ after: null, modes: null, made: false })
  })
})

describe('a stream whose run continues without it', () => {
  it.each(['lagged', 'lost'] as const)('is cut, not ended: %s', async (how) => {
    const door = await openDoor()
    const { response, run } = await stream(door)
    run.notify([event('1')])
    run.end('{}', how)
    await expect(response.text()).rejects.toThrow('terminated')
  })

  it('is reset over HTTP/1.0, where a closed connection would be a clean end', async () => {
    const door = await openDoor()
    const ending = async (how: 'over' | 'lost') => {
      const { socket } = await slowReader(door, '1.0')
      const ended = new Promise((resolve) => {
        socket.once('end', () => resolve('ended'))
          .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      })
      socket.resume()
      door.threads.lastRun.end('{}', how)
      return await ended
    }
    expect([await ending('over'), await ending('lost')]).toEqual(['ended', 'ECONNRESET'])
  })
})

describe('a reader that does not read', () => {
  const large = JSON.stringify('x'.repeat(100_000))

  it('is cut off once too much waits for it, and the run continues', async () => {
    const door = await openDoor()
    const { socket, received } = await slowReader(door)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    for (let n = 1; n <= 200; n += 1) door.threads.lastRun.notify([event(`a${n}`, large)])
    await door.threads.lastRun.left.promise
    socket.resume()
    await closed
    expect(received()).not.toMatch(/\r\n0\r\n\r\n$/)
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })

  it('is cut off once too many events wait for it, however small', async () => {
    const door = await openDoor()
    const { socket } = await slowReader(door)
    const { lastRun } = door.threads
    lastRun.notify([event('big', JSON.stringify('x'.repeat(20_000_000)))])
    for (let n = 0; n < backlog.events; n += 1) lastRun.notify([event(`s${n}`)])
    expect(lastRun.listeners.size).toBe(1)
    lastRun.notify([event('one too many')])
    await lastRun.left.promise
    socket.destroy()
  })

  it('is cut off once it has taken nothing for a minute', async () => {
    const door = await openDoor()
    const { socket } = await slowReader(door)
    const { lastRun } = door.threads
    lastRun.notify([event('big', JSON.stringify('x'.repeat(20_000_000)))])
    for (let second = 0; second < backlog.ticks - 1; second += 1) door.env.advance(1_000)
    expect(lastRun.listeners.size).toBe(1)
    door.env.advance(1_000)
    await lastRun.left.promise
    socket.destroy()
  })

  it('gets everything in order if it was only late', async () => {
    const door = await openDoor()
    const { socket, received } = await slowReader(door)
    const { lastRun } = door.threads
    lastRun.notify([event('big', JSON.stringify('x'.repeat(20_000_000)))])
    for (let n = 1; n <= 500; n += 1) lastRun.notify([event(`s${n}`)])
    lastRun.end()
    socket.resume()
    await expect.poll(received).toMatch(/0\r\n\r\n$/)
    const ids = [...received().matchAll(/id: (\w+)\n/g)].map(([, id]) => id)
    expect(ids).toEqual(['0', 'big', ...Array.from({ length: 500 }, (_, n) => `s${n + 1}`)])
    socket.destroy()
  })
})

describe('a reader that goes', () => {
  it('does not affect the run, and its follow is stopped', async () => {
    const door = await openDoor()
    const leaving = new AbortController()
    const { run } = await stream(door, {}, leaving.signal)
    leaving.abort()
    await run.left.promise
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })

  it('does not cancel a run that it only joined, on either path', async () => {
    const door = await openDoor()
    const { response, run } = await stream(door)
    const { runId } = run.row
    for (const path of [`/runs/${runId}/stream`, `/threads/${runId}/runs/${runId}/stream`]) {
      const leaving = new AbortController()
      await fetch(door.url + path, { signal: leaving.signal })
      expect(door.stats().replies.sse).toBe(2)
      leaving.abort()
      await expect.poll(() => door.stats().replies.sse).toBe(1)
    }
    run.end()
    await response.text()
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })

  it('cancels nothing if its stream was refused', async () => {
    const door = await openDoor()
    const { run } = await stream(door)
    door.threads.failure = new HeddleError('full')
    const refused = await rejoin(door, run.row.runId, undefined, '?cancel_on_disconnect=1')
    expect(refused.status).toBe(429)
    await refused.text()
    // Once the connection serves another request, the refused one is completely over.
    await (await fetch(`${door.url}/ok`)).text()
    expect(door.threads.given('cancelRun')).toBeUndefined()
    run.end()
  })

  it('cancels nothing if the run had ended before', async () => {
    const door = await openDoor()
    const { response, run } = await stream(door, { on_disconnect: 'cancel' })
    run.end()
    await response.text()
    await run.left.promise
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })
})
