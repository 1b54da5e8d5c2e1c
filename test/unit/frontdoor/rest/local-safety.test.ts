/** Who may call a server on a developer's machine. */

import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'

import { addressReader } from '../../../../src/frontdoor/index.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { call, openDoor, plainStatus } from '../open-front-door.ts'

const statusFor = (url: string, host: string, path = '/ok', headers = {}, method = 'GET') =>
  plainStatus(url, path, { host, ...headers }, method)

describe('a page', () => {
  it.each(['http://localhost:3000', 'http://127.0.0.1:5173', 'http://[::1]:3000',
    'https://studio.localhost'])('of this machine may call, and read: %s', async (origin) => {
      const door = await openDoor()
      const answer = await call(door, 'POST', '/threads/search', {}, { origin })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
      expect(answer.headers.get('access-control-expose-headers')?.split(', '))
        .toEqual(
          expect.arrayContaining(['Content-Location', 'Location', 'X-Pagination-Total',
            'X-Pagination-Next']),
        )
    })

  it.each(['https://evil.example', 'http://localhost.evil.example', 'null', 'http://10.0.0.1'])(
    'of another origin may not even call: %s',
    async (origin) => {
      const door = await openDoor()
      const answer = await call(door, 'POST', '/threads', '{}', { origin,
        'content-type': 'text/plain' })
      expect([answer.status, answer.json.code]).toEqual([403, 'forbidden'])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      expect(door.threads.calls).toEqual([])
    },
  )

  it('may send a preflight request', async () => {
    const door = await openDoor()
    const ask = (origin: string) =>
      call(door, 'OPTIONS', '/threads/x/runs/stream', undefined, {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, x-api-key',
      })
    const allowed = await ask('http://localhost:3000')
    expect(allowed.status).toBe(204)
    expect(allowed.headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(allowed.headers.get('access-control-allow-headers')).toContain('x-api-key')
    expect((await ask('https://evil.example')).status).toBe(403)
  })

  it('of a configured origin may call, and then no other', async () => {
    const door = await openDoor({ allowOrigins: ['https://app.example'] })
    const statusOf = async (origin: string) =>
      (await call(door, 'GET', '/info', undefined, { origin })).status
    expect(await statusOf('https://app.example')).toBe(200)
    expect(await statusOf('http://localhost:3000')).toBe(403)
    expect(await statusOf(door.url)).toBe(200)
  })

  it('of any origin may call if all are allowed', async () => {
    const door = await openDoor({ allowOrigins: ['*'] })
    const answer = await call(door, 'GET', '/info', undefined, { origin: 'https://evil.example' })
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://evil.example')
  })
})

describe('a Host header', () => {
  it('must name this machine if the server listens on loopback only', async () => {
    const { url } = await openDoor()
    const { port } = new URL(url)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, '[::1]']) {
      expect(await statusFor(url, host)).toBe(200)
    }
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example']) {
      const statuses = []
      for (const each of [host, host, 'localhost', host]) statuses.push(await statusFor(url, each))
      expect(statuses).toEqual([403, 403, 200, 403])
    }
  })

  it('must name this machine, without keys, wherever the server listens', async () => {
    const { url: wide } = await openDoor({ host: '0.0.0.0', allowHosts: ['heddle-1', 'B.example'] })
    const url = wide.replace('0.0.0.0', '127.0.0.1')
    const { port } = new URL(url)
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
      .map(({ address, family }) => family === 'IPv6' ? `[${address}]` : address)
      .filter((address) => !address.includes('fe80'))
    for (const host of ['localhost', `localhost:${port}`, 'a.localhost', `0.0.0.0:${port}`, ...own,
      'heddle-1', `heddle-1:${port}`, 'b.example']) {
      expect([host, await statusFor(url, host)]).toEqual([host, 200])
    }
    for (const host of ['evil.example', `evil.example:${port}`, 'heddle-1.evil.example',
      '198.51.100.7', 'localhost.evil.example', '127.0.0.1.evil.example',
      'x@localhost.evil.example', 'a..b']) {
      expect([host, await statusFor(url, host)]).toEqual([host, 403])
    }
  })

  it('of a page that was led here is refused, also where its origin is the same', async () => {
    const { url: wide, threads } = await openDoor({ host: '0.0.0.0' })
    const port = new URL(wide).port
    const status = await statusFor(`http://127.0.0.1:${port}`, `evil.example:${port}`, '/threads', {
      origin: `http://evil.example:${port}`,
      'sec-fetch-site': 'same-origin',
    }, 'POST')
    expect(status).toBe(403)
    expect(threads.calls).toEqual([])
  })

  it('may be any if that is allowed', async () => {
    const { url } = await openDoor({ allowHosts: ['*'] })
    expect(await statusFor(url, 'heddle.example')).toBe(200)
  })

  const auth = { keys: new MemoryKeys(), region: 'us', regionUrls: {}, sessions: null,
    addressOf: addressReader([]) }

  it('must name this machine if the request may come from a user proxy here', async () => {
    const { url } = await openDoor({ auth: { ...auth, isFromTrustedProxy: () => true } })
    expect(await statusFor(url, 'localhost')).toBe(200)
    expect(await statusFor(url, 'evil.example')).toBe(403)
  })

  it('must name this machine for a user proxy here, also if others may call', async () => {
    const { url } = await openDoor({ host: '0.0.0.0', allowHosts: ['heddle.example'],
      auth: { ...auth, isFromTrustedProxy: () => true } })
    const here = url.replace('0.0.0.0', '127.0.0.1')
    expect(await statusFor(here, 'heddle.example')).toBe(200)
    expect(await statusFor(here, 'evil.example')).toBe(403)
  })

  it('may be any if callers need keys, but not for internal paths', async () => {
    const { url } = await openDoor({ auth })
    expect(await statusFor(url, 'heddle.example')).toBe(200)
    const forHere = '/internal/cluster'
    expect(await statusFor(url, 'localhost', forHere)).toBe(200)
    expect(await statusFor(url, 'heddle.example', forHere)).toBe(404)
  })
})
