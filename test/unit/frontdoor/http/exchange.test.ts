/** Observability of requests: they have ids, are counted and logged, without their secrets. */

import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { givenId } from '../../../../src/frontdoor/http/exchange.ts'
import type { Exchange } from '../../../../src/frontdoor/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { call, openDoor } from '../open-front-door.ts'

async function watchedDoor() {
  const received: Exchange[] = []
  const door = await openDoor({ received: (exchange) => void received.push(exchange) })
  return { door, received }
}

describe('a request', () => {
  it('keeps the id that it came with or gets one, and is answered with it', async () => {
    const { door } = await watchedDoor()
    const kept = await call(door, 'GET', '/ok', undefined, { 'x-request-id': 'from-a-proxy:7' })
    expect(kept.headers.get('x-request-id')).toBe('from-a-proxy:7')
    const made = await call(door, 'GET', '/nowhere')
    expect(made.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
    const bad = await call(door, 'GET', '/threads/%zz', undefined, { 'x-request-id': 'a b' })
    expect(bad.status).toBe(422)
    expect(bad.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  })

  it('has an id, and is counted, even if it becomes a stream', async () => {
    const { door } = await watchedDoor()
    const answer = await fetch(`${door.url}/runs/stream`, { method: 'POST',
      body: '{"assistant_id":"agent"}', headers: { 'x-request-id': 'r1' } })
    expect(answer.headers.get('x-request-id')).toBe('r1')
    expect(door.stats()).toMatchObject(
      { requests: 1, replies: { sse: 1, runsFollowed: 1, wait: 0 } },
    )
    door.threads.lastRun.end()
    await answer.text()
    await expect.poll(() => door.stats().requests).toBe(0)
    expect(door.stats().replies).toEqual({ sse: 0, rpc: 0, wait: 0, runsFollowed: 0 })
  })

  it('is reported by the pattern of its route once it has ended', async () => {
    const { door, received } = await watchedDoor()
    const threadId = randomUUID()
    await call(door, 'GET', `/threads/${threadId}?token=hunter2`)
    await call(door, 'GET', '/made/up')
    await expect.poll(() => received).toMatchObject([
      { route: '/threads/:thread_id', method: 'GET', status: '404' },
      { route: 'none', method: 'GET', status: '404' },
    ])
    const line = door.env.lines.find(({ message }) => message === 'A request is over.')
    expect(line).toMatchObject({ level: 'debug', details: { threadId, status: '404' } })
    expect(JSON.stringify(door.env.lines)).not.toContain('hunter2')
  })

  it('has the status gone if its client goes before the answer', async () => {
    const { door, received } = await watchedDoor()
    const disk = Promise.withResolvers<void>()
    door.threads.disk = disk.promise
    const socket = connect(Number(new URL(door.url).port), '127.0.0.1')
    const body = '{"assistant_id":"agent"}'
    socket.write('POST /runs HTTP/1.1\r\nhost: localhost\r\n' +
      `content-length: ${body.length}\r\n\r\n${body}`)
    await expect.poll(() => door.stats().requests).toBe(1)
    socket.destroy()
    await expect.poll(() => received).toMatchObject([{ route: '/runs', status: 'gone' }])
    disk.resolve()
  })

  it('that fails is logged with its id, thread and route', async () => {
    const { door } = await watchedDoor()
    door.threads.failure = new TypeError('unforeseen')
    const threadId = randomUUID()
    await call(door, 'GET', `/threads/${threadId}/state`, undefined, { 'x-request-id': 'r7' })
    expect(door.env.lines.find(({ level }) => level === 'error')?.details)
      .toMatchObject({ requestId: 'r7', threadId, route: '/threads/:thread_id/state' })
  })
})

it('A given request id is kept if it has at most 128 characters, all of them printable.', () => {
  expectAlways(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (id) => {
    const sane = id.length > 0 && id.length <= 128 &&
      [...id].every((letter) => letter > ' ' && letter <= '~')
    expect(givenId({ 'x-request-id': id })).toBe(sane ? id : undefined)
  }))
  expectAlways(fc.property(fc.stringMatching(/^[!-~]{1,128}$/), (id) => {
    expect(givenId({ 'x-request-id': id })).toBe(id)
  }))
})
