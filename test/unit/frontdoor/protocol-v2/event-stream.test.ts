/** The events of a thread over HTTP: frames, heartbeats, slow readers, and no clean end. */

import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { backlog } from '../../../../src/frontdoor/http/backlog.ts'
import { threadEvent } from '../fake-threads.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const threadId = '0198a2f0-0000-7000-8000-000000000001'
const path = `/threads/${threadId}/stream/events`
const all = { channels: ['values', 'lifecycle'] }

const eventsOf = (door: OpenDoor) => door.threads.eventsOf('local', threadId)

/** The text that has arrived so far, and whether the stream was broken off. */
async function open(door: OpenDoor, body: object = all, headers: Record<string, string> = {}) {
  const response = await fetch(door.url + path, { method: 'POST', headers,
    body: JSON.stringify(body) })
  const state = { text: '', ending: 'none' as 'none' | 'clean' | 'broken' }
  const decoder = new TextDecoder()
  const read = async () => {
    for await (const chunk of response.body!) {
      state.text += decoder.decode(chunk as Uint8Array, { stream: true })
    }
  }
  const done = read().then(() => {
    state.ending = 'clean'
  }, () => {
    state.ending = 'broken'
  })
  return { response, state, done }
}

/** A reader that takes the headers and then nothing. */
async function deafReader(door: OpenDoor): Promise<Socket> {
  const { hostname, port, host } = new URL(door.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString()
  })
  const body = JSON.stringify(all)
  socket.write(`POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${body.length}\r\n\r\n` +
    body)
  await expect.poll(() => received).toContain('text/event-stream')
  socket.pause()
  return socket
}

describe('a stream of events', () => {
  it('opens before the thread exists, and stays open', async () => {
    const door = await openDoor()
    const { response, state } = await open(door)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
    })
    door.env.advance(60_000)
    await expect.poll(() => state.text).toContain(': heartbeat\n')
    expect(state.ending).toBe('none')
  })

  it('stays open for an hour through the ends of runs, while its client reads', async () => {
    const door = await openDoor()
    const { state } = await open(door)
    for (let minute = 1; minute <= 60; minute++) {
      const before = state.text.length
      door.env.advance(30_000)
      door.env.advance(30_000)
      if (minute % 20 === 0) {
        eventsOf(door).notify([
          threadEvent(minute, { method: 'lifecycle', id: `${minute}`,
            data: '{"event":"completed"}' }),
        ])
        await expect.poll(() => state.text).toContain(`id: ${minute}\n`)
      }
      await expect.poll(() => state.text.length, { interval: 5 }).toBeGreaterThan(before)
    }
    expect(state.ending).toBe('none')
  })

  it.each([
    ['2', {}, ['3', '4']],
    ['synth:r:3', {}, ['4']],
    ['2', { since: 3 }, ['4']],
    ['synth:r', { since: 3 }, ['4']],
    ['synth:r', {}, ['1', '2', '3', '4']],
  ])('goes on after the event %s, and %j', async (last, more, ids) => {
    const door = await openDoor()
    eventsOf(door).notify([1, 2, 3, 4].map((seq) => threadEvent(seq, { id: `${seq}` })))
    const { state } = await open(door, { ...all, ...more }, { 'last-event-id': last })
    await expect.poll(() => state.text).toContain('id: 4\n')
    expect([...state.text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(ids)
  })

  it('has the retained events first, then all that come, as frames', async () => {
    const door = await openDoor()
    eventsOf(door).notify([
      threadEvent(1, { id: 'synth:r:1', method: 'lifecycle', data: '{"event":"running"}' }),
    ])
    const { state } = await open(door)
    eventsOf(door).notify([threadEvent(2, { node: 'a', namespace: ['n:1'], data: '{"x":[1]}' })])
    await expect.poll(() => state.text).toContain('id: e2')
    expect(state.text).toBe(
      'event: lifecycle\ndata: {"type":"event","event_id":"synth:r:1","seq":1,"method":' +
        '"lifecycle","params":{"namespace":[],"timestamp":1000,"data":{"event":"running"}}}\n' +
        'id: synth:r:1\n\n' +
        'event: values\ndata: {"type":"event","event_id":"e2","seq":2,"method":"values","params":' +
        '{"namespace":["n:1"],"timestamp":1000,"node":"a","data":{"x":[1]}}}\nid: e2\n\n',
    )
  })

  it('has only what its filter takes, after `since`', async () => {
    const door = await openDoor()
    eventsOf(door).notify([1, 2, 3].map((seq) => threadEvent(seq)))
    const { state } = await open(door, { channels: ['values'], since: 2, unknown: 'key' })
    eventsOf(door).notify([threadEvent(4, { method: 'updates' }), threadEvent(5)])
    await expect.poll(() => state.text).toContain('id: e5')
    expect(state.text.match(/^id: .*$/gm)).toEqual(['id: e3', 'id: e5'])
    expect(door.threads.given('followThread')).toEqual({ threadId, afterSeq: 2 })
  })

  it.each([
    [{}, /channels: is required/],
    [{ channels: [] }, /channels/],
    [{ channels: 'values' }, /channels: must be an array/],
    [{ channels: [5] }, /channels.0: must be a string/],
    [{ channels: ['values'], namespaces: ['a'] }, /namespaces/],
    [{ channels: ['values'], depth: -1 }, /depth/],
    [{ channels: ['values'], since: 'x' }, /since/],
    [{ channels: Array.from({ length: 10_000 }, () => 'values') }, /channels/],
    [{ channels: ['values'], namespaces: Array.from({ length: 200 }, () => ['x'.repeat(1_000)]) },
      /128 KB/],
  ])('is refused for a filter %#', async (body, message) => {
    const { status, json } = await call(await openDoor(), 'POST', path, body)
    expect(status).toBe(422)
    expect(json.message).toMatch(message)
  })

  it('is refused with a status while nothing was sent', async () => {
    const door = await openDoor()
    door.threads.failure = new HeddleError('unavailable')
    expect((await call(door, 'POST', path, all)).status).toBe(503)
    expect(door.stats().replies.sse).toBe(0)
  })

  it.each(['gone', 'lagged', 'lost', 'unread'] as const)('is broken off after %s', async (how) => {
    const door = await openDoor()
    const { state, done } = await open(door)
    for (const listener of eventsOf(door).listeners) listener.ended(how)
    await done
    expect(state.ending).toBe('broken')
  })

  it('is broken off when the server closes, so that the client comes back', async () => {
    const door = await openDoor()
    const { state, done } = await open(door)
    await door.close(AbortSignal.abort())
    await done
    expect(state.ending).toBe('broken')
  })

  it('stops following when the client leaves', async () => {
    const door = await openDoor()
    const { response } = await open(door)
    expect(eventsOf(door).listeners.size).toBe(1)
    expect(door.stats().replies.sse).toBe(1)
    await response.body!.cancel().catch(() => {})
    const socket = await deafReader(door)
    socket.destroy()
    await expect.poll(() => eventsOf(door).listeners.size).toBe(1)
  })

  it('that is not read is bounded, and then broken off', async () => {
    const door = await openDoor()
    await deafReader(door)
    const [listener] = eventsOf(door).listeners
    const data = JSON.stringify('x'.repeat(64 * 1024))
    let sent = 0
    while (eventsOf(door).listeners.size > 0 && sent < 10_000) {
      listener!.events([threadEvent(++sent, { data })])
      if (sent % 100 === 0) await new Promise((turn) => setImmediate(turn))
    }
    expect(eventsOf(door).listeners.size).toBe(0)
    // What the buffers of the connection take, and the backlog.
    expect(sent * data.length).toBeLessThan(32 * backlog.characters)
  })

  it('that takes nothing for a minute is broken off', async () => {
    const door = await openDoor()
    await deafReader(door)
    const [listener] = eventsOf(door).listeners
    const data = JSON.stringify('x'.repeat(64 * 1024))
    let sent = 0
    // The buffers of the connection take some before they are full for good.
    for (let turns = 0; turns < 100; turns++) {
      while (listener!.ready!() === undefined) {
        listener!.events([threadEvent(++sent, { data })])
        turns = 0
      }
      await new Promise((turn) => setImmediate(turn))
    }
    door.env.advance(59_000)
    await new Promise((turn) => setImmediate(turn))
    expect(eventsOf(door).listeners.size).toBe(1)
    // A busy machine may fill them later: then the minute begins later.
    await expect.poll(() => {
      door.env.advance(2_000)
      return eventsOf(door).listeners.size
    }).toBe(0)
    await listener!.ready!()
  })
})
