/** Closing the front door: short requests are answered, streams are cut, the deadline holds. */

import { Agent, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { describe, expect, it } from 'vitest'

import { addressReader } from '../../../../src/frontdoor/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { firstFreePort } from '../../../support/port.ts'
import { call, openDoor } from '../open-front-door.ts'

const never = new AbortController().signal

const post = (url: string, path: string) =>
  fetch(url + path, { method: 'POST', body: '{"assistant_id":"agent"}' })

describe('closing', () => {
  it('ends at once if no request is open, even with idle connections', async () => {
    const door = await openDoor()
    const agent = new Agent({ keepAlive: true })
    await new Promise((resolve) =>
      request(`${door.url}/ok`, { agent }, (response) => {
        response.resume().on('end', resolve)
      }).end()
    )
    const session = connectHttp2(door.url)
    await new Promise((resolve) => session.once('remoteSettings', resolve))
    await door.close(never)
    await expect(fetch(`${door.url}/ok`)).rejects.toThrow('fetch failed')
    agent.destroy()
  })

  it('answers pending requests before it ends', async () => {
    const door = await openDoor()
    const waiting = post(door.url, '/runs/wait')
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('joinRun')
    const closing = door.close(never)
    door.threads.lastRun.end('{"a":1}')
    expect(await (await waiting).json()).toEqual({ a: 1 })
    await closing
  })

  it('cuts streams, so that their clients come back, and cancels no run', async () => {
    const door = await openDoor()
    const body = '{"assistant_id":"agent","on_disconnect":"cancel"}'
    const response = await fetch(`${door.url}/runs/stream`, { method: 'POST', body })
    await door.close(never)
    await expect(response.text()).rejects.toThrow('terminated')
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })

  it.each([['put on disk', 'disk', 'startRun'], ['found', 'owner', 'followRun']] as const)(
    'names the location of a new run even while that is being %s',
    async (_, what, call) => {
      const door = await openDoor()
      const held = Promise.withResolvers<void>()
      door.threads[what] = held.promise
      const streaming = post(door.url, '/runs/stream')
      await expect.poll(() => door.threads.calls.at(-1)?.name).toBe(call)
      const closing = door.close(never)
      if (what === 'disk') held.resolve()
      const response = await streaming
      const { row: { runId } } = door.threads.lastRun
      expect(response.headers.get('location')).toBe(`/runs/${runId}/stream`)
      await expect(response.text()).rejects.toThrow('terminated')
      held.resolve()
      await closing
    },
  )

  it('cuts all other requests at the deadline, and cancels no run', async () => {
    const door = await openDoor()
    const body = '{"assistant_id":"agent","on_disconnect":"cancel"}'
    const waiting = fetch(`${door.url}/runs/wait`, { method: 'POST', body })
    await expect.poll(() => door.threads.calls.at(-1)?.name).toBe('joinRun')
    const deadline = new AbortController()
    const closing = door.close(deadline.signal)
    deadline.abort()
    await closing
    await expect(waiting).rejects.toThrow('fetch failed')
    expect(door.threads.calls.some(({ name }) => name === 'cancelRun')).toBe(false)
  })
})

describe('opening', () => {
  it('leaves no timer behind if the port is taken', async () => {
    const door = await openDoor()
    const env = virtualEnv()
    const port = Number(new URL(door.url).port)
    await expect(openDoor({ port, env })).rejects.toThrow('EADDRINUSE')
    const beside = await openDoor({ port, nextPorts: 50 })
    expect(Number(new URL(beside.url).port)).toBeGreaterThan(port)
    expect((await call(beside, 'GET', '/ok')).status).toBe(200)
    expect(env.timers()).toBe(0)
  })

  it('leaves no port open if that of the platform is taken', async () => {
    const [port, free] = [Number(new URL((await openDoor()).url).port), await firstFreePort()]
    await expect(openDoor({ port: free, platformPort: port })).rejects
      .toMatchObject({ code: 'EADDRINUSE', port })
    const door = await openDoor({ port: free })
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
  })
})

it('Opening leaves no timer behind if the keys of sessions cannot be read.', async () => {
  const env = virtualEnv()
  const sessions = { issuer: 'a', audience: '', keys: '/nowhere.json' }
  const auth = { keys: new MemoryKeys(), region: 'us', regionUrls: {}, sessions,
    addressOf: addressReader([]) }
  await expect(openDoor({ env, auth })).rejects.toThrow('cannot be read')
  expect(env.timers()).toBe(0)
})
