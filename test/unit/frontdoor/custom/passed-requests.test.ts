/** Secrets of requests that an app handles: each comes back once, and ends with its request. */

import { expect, it } from 'vitest'

import { ownKeyOf, PassedRequests } from '../../../../src/frontdoor/custom/passed-requests.ts'
import { localCaller } from '../../../../src/frontdoor/http/caller.ts'
import { virtualEnv } from '../../../support/env.ts'

const finding = { identity: localCaller.identity, caller: localCaller }
const shop = { name: 'shop' }

function passedOne() {
  let asked = 0
  const passed = new PassedRequests(virtualEnv(), async () => {
    asked++
    return finding
  })
  const request = { deployment: shop, socket: { remoteAddress: '192.0.2.7' }, headers: {} }
  const secret = passed.add({ request: request as never, finding: undefined })
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
  const by = (key: string, deployment?: object) =>
    passed.ofKey({ headers: { 'x-api-key': key }, deployment } as never)
  const key = ownKeyOf(secret)
  expect(await by(key, shop)?.identify()).toBe(finding)
  expect(await by(key, shop)?.identify()).toBe(finding)
  expect(asked()).toBe(1)
  expect([by(key), by(key, { name: 'other' }), by(ownKeyOf('made up'), shop), by(secret, shop)])
    .toEqual([undefined, undefined, undefined, undefined])
  passed.end(secret)
  expect([by(key, shop), passed.takeBack(returning(secret)), passed.count])
    .toEqual([undefined, false, 0])
})
