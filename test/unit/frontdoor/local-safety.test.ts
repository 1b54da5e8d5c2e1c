/** Who may call a server on a developer's machine. */

import { request } from 'node:http'
import { describe, expect, it } from 'vitest'

import { addressReader } from '../../../src/frontdoor/index.ts'
import { MemoryKeys } from '../../support/memory-keys.ts'
import { call, openDoor } from './open-door.ts'

/** The status of a request with the given Host header, which fetch cannot set. */
function statusFor(url: string, host: string, path = '/ok'): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url + path, { headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    }).on('error', reject).end()
  })
}

describe('a page', () => {
  it.each(['http://localhost:3000', 'http://127.0.0.1:5173', 'http://[::1]:3000',
    'https://studio.localhost'])('of this machine may call, and read: %s', async (origin) => {
    const door = await openDoor()
    const answer = await call(door, 'POST', '/threads/search', {}, { origin })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    expect(answer.headers.get('access-control-expose-headers')?.split(', '))
      .toEqual(expect.arrayContaining(['Content-Location', 'Location', 'X-Pagination-Total',
        'X-Pagination-Next']))
  })

  it.each(['https://evil.example', 'http://localhost.evil.example', 'null', 'http://10.0.0.1'])(
    'of another origin may not even call: %s', async (origin) => {
      const door = await openDoor()
      const answer = await call(door, 'POST', '/threads', '{}',
        { origin, 'content-type': 'text/plain' })
      expect([answer.status, answer.json.code]).toEqual([403, 'forbidden'])
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
      expect(door.threads.calls).toEqual([])
    })

  it('may send a preflight request', async () => {
    const door = await openDoor()
    const ask = (origin: string) => call(door, 'OPTIONS', '/threads/x/runs/stream', undefined, {
      origin, 'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type, x-api-key' })
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

  it('may be any if the server listens on other addresses', async () => {
    const { url } = await openDoor({ host: '0.0.0.0' })
    expect(await statusFor(url.replace('0.0.0.0', '127.0.0.1'), 'heddle.example')).toBe(200)
  })

  const auth = { keys: new MemoryKeys(), region: 'us', regionUrls: {}, sessions: null,
    addressOf: addressReader([]) }

  it('must name this machine if the request may come from a user proxy here', async () => {
    const { url } = await openDoor({ auth: { ...auth, isFromTrustedProxy: () => true } })
    expect(await statusFor(url, 'localhost')).toBe(200)
    expect(await statusFor(url, 'evil.example')).toBe(403)
  })

  it('may be any if callers need keys, but not for internal paths', async () => {
    const { url } = await openDoor({ auth })
    expect(await statusFor(url, 'heddle.example')).toBe(200)
    const forHere = '/internal/cluster'
    expect(await statusFor(url, 'localhost', forHere)).toBe(200)
    expect(await statusFor(url, 'heddle.example', forHere)).toBe(404)
  })
})
