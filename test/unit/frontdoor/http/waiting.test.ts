/** Waiting for a run's result: a plain reply if it is quick, else early headers and line breaks. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const body = { assistant_id: 'agent' }

function wait(door: OpenDoor, more: object = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${door.url}/runs/wait`, {
    method: 'POST',
    body: JSON.stringify({ ...body, ...more }),
    ...(signal && { signal }),
  })
}

const started = (door: OpenDoor) =>
  expect.poll(() => door.threads.calls.at(-1)?.name)
    .toBe('joinRun')

describe('a quick result', () => {
  it('is a plain reply', async () => {
    const door = await openDoor()
    const waiting = wait(door)
    await started(door)
    door.threads.lastRun.end('{"a": 1}')
    const response = await waiting
    const { headers } = response
    expect(await response.text()).toBe('{"a": 1}')
    expect(headers.get('content-length')).toBe('8')
    expect(headers.get('content-location')).toBe(`/runs/${door.threads.lastRun.row.runId}`)
  })

  it('may be an error with a status', async () => {
    const door = await openDoor()
    const waiting = wait(door)
    await started(door)
    door.env.advance(1_900)
    door.threads.lastRun.result.reject(new HeddleError('not_found', 'The thread was deleted.'))
    expect((await waiting).status).toBe(404)
  })
})

describe('a slow result', () => {
  it('comes after early headers and line breaks, and is the same JSON', async () => {
    const door = await openDoor()
    const waiting = wait(door)
    await started(door)
    door.env.advance(2_100)
    const response = await waiting
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(response.headers.get('content-location')).toContain('/runs/')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('cache-control')).toContain('no-transform')
    door.env.advance(10_000)
    door.threads.lastRun.end('{"a":1}')
    expect(await response.text()).toBe('\n\n\n{"a":1}')
  })

  it('has the error in the body if the thread is deleted meanwhile', async () => {
    const door = await openDoor()
    const waiting = wait(door)
    await started(door)
    door.env.advance(2_100)
    const response = await waiting
    door.threads.lastRun.result.reject(new HeddleError('not_found', 'The thread was deleted.'))
    expect(await response.json())
      .toEqual({ __error__: { error: 'not_found', message: 'The thread was deleted.' } })
  })

  it('is cut if asking again may help', async () => {
    const door = await openDoor()
    const { json } = await call(door, 'POST', '/threads', {})
    const runs = `${door.url}/threads/${String(json.thread_id)}/runs`
    await fetch(runs, { method: 'POST', body: JSON.stringify(body) })
    const waiting = fetch(`${runs}/${door.threads.lastRun.row.runId}/join`)
    await started(door)
    door.env.advance(2_100)
    const response = await waiting
    door.threads.lastRun.interrupt(new HeddleError('unavailable'))
    await expect(response.text()).rejects.toThrow('terminated')
  })
})

describe('a client', () => {
  const joined = async (door: OpenDoor, query = '', signal?: AbortSignal) => {
    const { json } = await call(door, 'POST', '/threads', {})
    const runs = `${door.url}/threads/${String(json.thread_id)}/runs`
    await fetch(runs, { method: 'POST', body: JSON.stringify(body) })
    const path = `${runs}/${door.threads.lastRun.row.runId}/join${query}`
    const waiting = fetch(path, signal ? { signal } : {})
    waiting.catch(() => {})
    await started(door)
    return { waiting }
  }
  const cancels = (door: OpenDoor) => door.threads.calls.filter(({ name }) => name === 'cancelRun')

  it.each([['', 0], ['?cancel_on_disconnect=0', 0], ['?cancel_on_disconnect=1', 1]])(
    'that goes is forgotten; asked with %j, that cancels %i runs',
    async (query, count) => {
      const door = await openDoor()
      const leaving = new AbortController()
      await joined(door, query, leaving.signal)
      await expect.poll(() => door.stats().replies.wait).toBe(1)
      leaving.abort()
      await expect.poll(() => door.stats().replies.wait).toBe(0)
      await expect.poll(() => cancels(door)).toHaveLength(count)
    },
  )

  it('that is cut off to ask again did not go: its run is not cancelled', async () => {
    const door = await openDoor()
    const { waiting } = await joined(door, '?cancel_on_disconnect=1')
    door.env.advance(2_100)
    const response = await waiting
    door.threads.lastRun.interrupt(new HeddleError('unavailable'))
    await expect(response.text()).rejects.toThrow('terminated')
    await expect.poll(() => door.stats().requests).toBe(0)
    expect(cancels(door)).toEqual([])
  })
})

describe('a run whose thread fails', () => {
  it('is answered as retryable if it was never written', async () => {
    const door = await openDoor()
    const waiting = wait(door)
    await started(door)
    door.threads.lastRun.interrupt(
      new HeddleError('unavailable', 'Nothing was written.', { unwritten: true }),
    )
    const response = await waiting
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await response.json()).toMatchObject({ message: 'Nothing was written.' })
  })

  it('is followed as known to exist only by the request that made it', async () => {
    const door = await openDoor()
    const streaming = fetch(`${door.url}/runs/stream`, { method: 'POST',
      body: JSON.stringify(body) })
    await expect.poll(() => door.threads.given('followRun')).toMatchObject({ made: true })
    door.threads.lastRun.end()
    const { headers } = await streaming
    const location = `/runs/${door.threads.lastRun.row.runId}/stream`
    expect(headers.get('location')).toBe(location)
    await (await fetch(door.url + location)).text()
    expect(door.threads.given('followRun')).toMatchObject({ made: false })
  })
})

describe('a client that goes', () => {
  it.each([0, 2_100])('cancels its run if it asked for that, after %i ms', async (ms) => {
    const door = await openDoor()
    const leaving = new AbortController()
    const waiting = wait(door, { on_disconnect: 'cancel' }, leaving.signal)
      .then((response) => response.text()).catch(() => 'gone')
    await started(door)
    door.env.advance(ms)
    leaving.abort()
    expect(await waiting).toBe('gone')
    await door.threads.lastRun.cancelled.promise
  })

  it.each(['wait', 'stream'])('cancels its run even while it is written: %s', async (how) => {
    const door = await openDoor()
    const disk = Promise.withResolvers<void>()
    door.threads.disk = disk.promise
    const leaving = new AbortController()
    const gone = fetch(`${door.url}/runs/${how}`, { method: 'POST', signal: leaving.signal,
      body: JSON.stringify({ ...body, on_disconnect: 'cancel' }) }).catch(() => 'gone')
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('startRun')
    leaving.abort()
    expect(await gone).toBe('gone')
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
    disk.resolve()
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('cancelRun')
    await expect.poll(() => door.threads.lastRun.listeners.size).toBe(0)
  })

  it.each(['runs/wait', 'threads/*/runs/wait', 'threads/*/runs/*/join'])(
    'aborts the join of its run: %s',
    async (path) => {
      const door = await openDoor()
      const { json } = await call(door, 'POST', '/threads', {})
      const runs = `/threads/${String(json.thread_id)}/runs`
      const { json: run } = await call(door, 'POST', runs, body)
      const place = path.replace('*', String(json.thread_id)).replace('*', String(run.run_id))
      const leaving = new AbortController()
      const gone = fetch(`${door.url}/${place}`, { signal: leaving.signal,
        ...path.endsWith('wait') && { method: 'POST', body: JSON.stringify(body) } }).catch(() =>
          'gone'
        )
      await started(door)
      const cancelled = door.threads.given('joinRun') as AbortSignal
      expect(cancelled.aborted).toBe(false)
      leaving.abort()
      expect(await gone).toBe('gone')
      await expect.poll(() => cancelled.aborted).toBe(true)
      expect(cancelled.reason).toBeInstanceOf(HeddleError)
    },
  )

  it('does not affect the run otherwise, or the server', async () => {
    const door = await openDoor()
    const leaving = new AbortController()
    const waiting = wait(door, {}, leaving.signal).catch(() => 'gone')
    await started(door)
    leaving.abort()
    await waiting
    door.env.advance(20_000)
    door.threads.lastRun.end()
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })
})

describe('joining', () => {
  it('answers the result of a finished run, and 404 if there is no such run', async () => {
    const door = await openDoor()
    const { json } = await call(door, 'POST', '/threads', {})
    const runs = `/threads/${String(json.thread_id)}/runs`
    await call(door, 'POST', runs, body)
    const { lastRun } = door.threads
    lastRun.end('{"__interrupt__":[]}')
    const join = (query: string) => call(door, 'GET', `${runs}/${lastRun.row.runId}/join${query}`)
    expect((await join('')).json).toEqual({ __interrupt__: [] })
    expect((await join('?cancel_on_disconnect=0')).json).toEqual({ __interrupt__: [] })
    expect((await call(door, 'GET', `${runs}/${randomUUID()}/join`)).status).toBe(404)
  })
})
