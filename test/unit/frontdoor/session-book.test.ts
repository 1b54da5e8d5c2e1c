/** Sessions: what a token must be, and what is said of one that is not so. */

import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'

import { SessionBook } from '../../../src/frontdoor/session-book.ts'
import { virtualEnv } from '../../support/env.ts'
import {
  bareToken, expiredToken, forgedToken, issuer, keySet, keySetFile, token,
} from '../../support/sessions.ts'

const open = (audience = '', keys = keySetFile(), env = virtualEnv(Date.now())) =>
  SessionBook.open({ issuer, audience, keys }, env)

describe('a session', () => {
  it('says who it is, of which tenant, what he may, and until when', async () => {
    const book = open()
    const nowMs = 1_000 * Math.floor(Date.now() / 1_000)
    expect(await book.read(token({ nowMs }))).toEqual(
      { tenant: 'acme', userId: 'ann', role: 'developer', region: undefined,
        expiresAtMs: nowMs + 600_000 })
    expect(await book.read(token({ claims: { role: 'reader' } }))).toMatchObject({ role: 'reader' })
  })

  const withHmac = () => {
    const [, body] = token().split('.')
    const head = Buffer.from('{"alg":"HS256","kid":"one"}').toString('base64url')
    const secret = JSON.stringify(keySet.keys[0])
    return `${head}.${body!}.${createHmac('sha256', secret).update(`${head}.${body!}`)
      .digest('base64url')}`
  }

  it.each<[string, () => string, RegExp]>([
    ['is over', expiredToken, /has expired/],
    ['is signed by somebody else', forgedToken, /its signature/],
    ['is not signed', bareToken, /its signature/],
    ['is signed with what everybody knows', withHmac, /its signature/],
    ['is of another issuer', () => token({ claims: { iss: 'https://other.example' } }), /"iss"/],
    ['is of a key that nobody knows', () => token({ header: { kid: 'two' } }), /its signature/],
    ['has no end', () => token({ claims: { exp: undefined } }), /"exp"/],
    ['has no user', () => token({ claims: { sub: undefined } }), /"sub"/],
    ['names its user by a number', () => token({ claims: { sub: 7 } }), /"sub"/],
    ['names its user by nothing', () => token({ claims: { sub: '' } }), /"sub"/],
    ['has no tenant', () => token({ claims: { tenant: undefined } }), /"tenant"/],
    ['has a tenant with a line break', () => token({ claims: { tenant: 'a\nb' } }), /"tenant"/],
    ['has a strange role', () => token({ claims: { role: 'root' } }), /"role"/],
    ['begins later', () => token({ claims: { nbf: Date.now() / 1_000 + 60 } }), /"nbf"/],
    ['is no token', () => 'a.b.c', /its signature/],
    ['is nothing', () => 'x', /its signature/],
  ])('that %s is refused', async (_, make, reason) => {
    const book = open()
    await expect(book.read(make())).rejects.toMatchObject(
      { code: 'unauthenticated', message: expect.stringMatching(reason) as string })
  })

  it('must be for the audience that is asked for', async () => {
    const book = open('heddle')
    await expect(book.read(token())).rejects.toMatchObject({ code: 'unauthenticated' })
    expect(await book.read(token({ claims: { aud: ['x', 'heddle'] } })))
      .toMatchObject({ userId: 'ann' })
  })

  it('that was good is refused from its end on', async () => {
    const env = virtualEnv(Date.now())
    const book = open('', keySetFile(), env)
    const short = token({ claims: { exp: Math.floor(env.nowMs() / 1_000) + 5 } })
    await book.read(short)
    env.advance(5_000)
    await expect(book.read(short)).rejects.toMatchObject({ code: 'unauthenticated' })
  })
})

describe('the keys of sessions', () => {
  it('are fetched from a URL, and fetched again when a new one is used', async () => {
    let status = 200
    const server = createServer((_, response) =>
      response.writeHead(status).end(JSON.stringify(keySet)))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    try {
      const book = open('', `http://127.0.0.1:${port}/jwks`)
      expect(await book.read(token())).toMatchObject({ userId: 'ann' })
      status = 500
      const other = open('', `http://127.0.0.1:${port}/jwks`)
      await expect(other.read(token())).rejects.toMatchObject({ code: 'unavailable' })
    } finally {
      server.close()
    }
    const nowhere = open('', `http://127.0.0.1:${port}/jwks`)
    await expect(nowhere.read(token())).rejects.toMatchObject({ code: 'unavailable' })
  })

  it.each([
    ['/nowhere/keys.json', /--jwt-keys.*\/nowhere\/keys.json cannot be read/],
    [keySetFile('{'), /--jwt-keys.*is no JSON web key set/],
    [keySetFile({ keys: 'none' }), /--jwt-keys.*is no JSON web key set/],
    ['http://issuer.example/jwks', /--jwt-keys.*must begin with https/],
    ['https://', /--jwt-keys.*must begin with https/],
  ])('are refused with a sentence: %s', (place, sentence) => {
    expect(() => open('', place)).toThrow(expect.objectContaining(
      { code: 'invalid', message: expect.stringMatching(sentence) as string }))
  })
})
