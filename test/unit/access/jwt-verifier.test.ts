/** Sessions: which tokens are accepted, and the errors for others. */

import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { JwtVerifier } from '../../../src/access/jwt-verifier.ts'
import { virtualEnv } from '../../support/env.ts'
import { bareToken, expiredToken, forgedToken, issuer, keySet, keySetFile,
  token } from '../../support/sessions.ts'

const open = (audience = '', keys = keySetFile(), env = virtualEnv(Date.now())) =>
  JwtVerifier.open({ issuer, audience, keys }, env)

describe('a session', () => {
  it('has the user, tenant, role and end of its token', async () => {
    const keyCache = open()
    const nowMs = 1_000 * Math.floor(Date.now() / 1_000)
    expect(await keyCache.read(token({ nowMs }))).toEqual(
      { tenant: 'acme', userId: 'ann', role: 'developer', region: undefined,
        expiresAtMs: nowMs + 600_000 },
    )
    expect(await keyCache.read(token({ claims: { role: 'reader' } }))).toMatchObject(
      { role: 'reader' },
    )
  })

  const withHmac = () => {
    const [, body] = token().split('.')
    const head = Buffer.from('{"alg":"HS256","kid":"one"}').toString('base64url')
    const secret = JSON.stringify(keySet.keys[0])
    return `${head}.${body!}.${
      createHmac('sha256', secret).update(`${head}.${body!}`)
        .digest('base64url')
    }`
  }

  it.each<[string, () => string, RegExp]>([
    ['has expired', expiredToken, /has expired/],
    ['is signed by another key', forgedToken, /its signature/],
    ['is not signed', bareToken, /its signature/],
    ['is signed by HMAC with the public key', withHmac, /its signature/],
    ['is of another issuer', () => token({ claims: { iss: 'https://other.example' } }), /"iss"/],
    ['names an unknown key', () => token({ header: { kid: 'two' } }), /its signature/],
    ['has no end', () => token({ claims: { exp: undefined } }), /"exp"/],
    ['has no user', () => token({ claims: { sub: undefined } }), /"sub"/],
    ['names its user by a number', () => token({ claims: { sub: 7 } }), /"sub"/],
    ['names its user by an empty text', () => token({ claims: { sub: '' } }), /"sub"/],
    ['has no tenant', () => token({ claims: { tenant: undefined } }), /"tenant"/],
    ['has a tenant with a line break', () => token({ claims: { tenant: 'a\nb' } }), /"tenant"/],
    ['has an unknown role', () => token({ claims: { role: 'root' } }), /"role"/],
    ['begins later', () => token({ claims: { nbf: Date.now() / 1_000 + 60 } }), /"nbf"/],
    ['is no token', () => 'a.b.c', /its signature/],
    ['is nothing', () => 'x', /its signature/],
  ])('that %s is refused', async (_, make, reason) => {
    const keyCache = open()
    await expect(keyCache.read(make())).rejects.toMatchObject(
      { code: 'unauthenticated', message: expect.stringMatching(reason) as string },
    )
  })

  it('must be for the configured audience', async () => {
    const keyCache = open('heddle')
    await expect(keyCache.read(token())).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(await keyCache.read(token({ claims: { aud: ['x', 'heddle'] } })))
      .toMatchObject({ userId: 'ann' })
  })

  it('that was accepted is refused from its end on', async () => {
    const env = virtualEnv(Date.now())
    const keyCache = open('', keySetFile(), env)
    const short = token({ claims: { exp: Math.floor(env.nowMs() / 1_000) + 5 } })
    await keyCache.read(short)
    env.advance(5_000)
    await expect(keyCache.read(short)).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

describe('the keys of sessions', () => {
  async function keyServer() {
    const answer = { status: 200, kid: 'one' }
    const server = createServer((_, response) =>
      response.writeHead(answer.status)
        .end(JSON.stringify({ keys: keySet.keys.map((key) => ({ ...key, kid: answer.kid })) }))
    )
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    return { server, answer, url: `http://127.0.0.1:${port}/jwks` }
  }

  it('are fetched from a URL, and fetched again if a token names a new one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { answer, url } = await keyServer()
    const keyCache = open('', url)
    expect(await keyCache.read(token())).toMatchObject({ userId: 'ann' })
    answer.kid = 'two'
    const next = token({ header: { kid: 'two' } })
    await expect(keyCache.read(next)).rejects.toMatchObject({ code: 'unauthenticated' })
    // The library fetches keys at most every 30 seconds, however many unknown ones are named.
    vi.setSystemTime(Date.now() + 30_000)
    expect(await keyCache.read(next)).toMatchObject({ userId: 'ann' })
  })

  it('make sessions unavailable if they cannot be fetched', async () => {
    const { server, answer, url } = await keyServer()
    answer.status = 500
    await expect(open('', url).read(token())).rejects.toMatchObject({ code: 'unavailable' })
    server.close()
    await expect(open('', url).read(token())).rejects.toMatchObject({ code: 'unavailable' })
  })

  it.each([
    ['/nowhere/keys.json', /--jwt-keys.*\/nowhere\/keys.json cannot be read/],
    [keySetFile('{'), /--jwt-keys.*is no JSON web key set/],
    [keySetFile({ keys: 'none' }), /--jwt-keys.*is no JSON web key set/],
    ['http://issuer.example/jwks', /--jwt-keys.*must begin with https/],
    ['https://', /--jwt-keys.*must begin with https/],
  ])('are refused with a sentence if their place is wrong: %s', (place, message) => {
    expect(() => open('', place)).toThrow(expect.objectContaining(
      { code: 'invalid', message: expect.stringMatching(message) as string },
    ))
  })
})
