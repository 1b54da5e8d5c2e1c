/** Where an answer may send a call, and what a connection is never made to. */

import { expect, it } from 'vitest'

import { AddressRules } from '../../../src/egress/address-rules.ts'
import { guardedConnector } from '../../../src/egress/guarded-connector.ts'
import { targetOf } from '../../../src/egress/redirect.ts'

const hop = (url: string) => ({ method: 'POST', url: new URL(url), headers: {} }) as const

it('A redirect leads to another URL, but never from https to http or to an invalid one.', () => {
  const secure = hop('https://a.example/hook')
  expect(targetOf(secure, 307, '/next')).toBe('https://a.example/next')
  expect(targetOf(hop('http://a.example/'), 307, 'https://b.example/')).toBe('https://b.example/')
  expect(targetOf(secure, 200, '/next')).toBeUndefined()
  expect(() => targetOf(secure, 307, 'http://a.example/hook')).toThrow('https to http')
  expect(() => targetOf(secure, 307, 'http://[')).toThrow('no URL')
})

it('No connection is made to a closed address that a URL names.', async () => {
  const connect = guardedConnector({ rules: new AddressRules([]), timeoutMs: 1_000,
    resolve: () => expect.unreachable() })
  const to = { hostname: '127.0.0.1', protocol: 'http:', port: '9' } as never
  const error = await new Promise((done) => connect(to, (...[failed]) => done(failed)))
  expect(error).toMatchObject({ code: 'forbidden' })
})
