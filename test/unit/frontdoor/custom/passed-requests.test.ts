/** Secrets of requests that an app handles: each comes back once, and ends with its request. */

import { expect, it } from 'vitest'

import { ownKeyOf, PassedRequests } from '../../../../src/frontdoor/custom/passed-requests.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { localCaller } from '../../../../src/frontdoor/http/caller.ts'
import { virtualEnv } from '../../../support/env.ts'

const finding = { identity: localCaller.identity, caller: localCaller }
const refused = { identity: { kind: 'nobody' as const }, refused: new HeddleError('forbidden') }
const shop = { name: 'shop' }

function passedOne() {
  let asked = 0
  const passed = new PassedRequests(virtualEnv(), {
    login: async () => {
      asked++
      return finding
    },
    keys: async () => refused,
    sourceOf: ({ url }) => url === '/runs' ? 'login' : 'keys',
  })
  const request = { deployment: shop, socket: { remoteAddress: '192.0.2.7' }, headers: {} }
  const secret = passed.add({ request: request as never, found: undefined })
  return { passed, secret, asked: () => asked }
}

const returning = (secret: string) =>
  ({ headers: { 'x-heddle-app-back': secret }, socket: {} }) as never

it('A request comes back once, from the address of its client.', () => {
  const { passed, secret } = passedOne()
  expect(passed.takeBack(returning('another'))).toBe(false)
  const raw = returning(secret)
  expect(passed.takeBack(raw)).toBe(true)
  expect(raw).toEqual({ headers: {}, socket: {} })
  expect((raw as { socket: { remoteAddress: string } }).socket.remoteAddress).toBe('192.0.2.7')
  expect(passed.before({ raw })).toMatchObject({ deployment: shop })
  expect(passed.takeBack(returning(secret))).toBe(false)
})

it('Its key names its caller at its own deployment, until it ends.', async () => {
  const { passed, secret, asked } = passedOne()
  const by = (key: string, deployment?: object, url = '/runs') =>
    passed.identify({ headers: { 'x-api-key': key }, deployment, url } as never)
  const key = ownKeyOf(secret)
  expect(await by(key, shop)).toBe(finding)
  expect(await by(key, shop)).toBe(finding)
  expect(asked()).toBe(1)
  // Where no login counts, the credentials of the request are looked at by the keys of the server.
  expect(await by(key, shop, '/api/v1/runs/query')).toBe(refused)
  expect([by(key), by(key, { name: 'other' }), by(ownKeyOf('made up'), shop), by(secret, shop)])
    .toEqual([undefined, undefined, undefined, undefined])
  passed.end(secret)
  expect([by(key, shop), passed.takeBack(returning(secret)), passed.count])
    .toEqual([undefined, false, 0])
})

it('A finding by a login does not count for a route that only keys of the server open.', () => {
  const passed = new PassedRequests(virtualEnv(), { login: async () => finding,
    keys: async () => refused, sourceOf: ({ url }) => url === '/runs' ? 'login' : 'keys' })
  const request = { deployment: shop, socket: {}, headers: {} } as never
  const raw = returning(passed.add({ request, found: { source: 'login', finding } }))
  expect(passed.takeBack(raw)).toBe(true)
  const at = (url: string) => passed.findingOf({ raw, url } as never)
  expect([at('/runs'), at('/threads/x/place')]).toEqual([finding, undefined])
  expect(passed.isPlaced({ raw } as never)).toBe(true)
})
