/** Keys of runs. */

import { expect, it } from 'vitest'

import { keyLookalike, RunKeys } from '../../../src/access/index.ts'
import { virtualEnv } from '../../support/env.ts'

it('A key gives the namespace of its run until it is revoked, and looks like all keys.', () => {
  const keys = new RunKeys(virtualEnv())
  const [one, other] = [keys.issue('acme@shop'), keys.issue('acme')]
  expect([one, other].every((key) => keyLookalike.test(key))).toBe(true)
  expect([keys.find(one), keys.find(other)]).toEqual(['acme@shop', 'acme'])
  expect([keys.find(`${one}x`), keys.find(one.slice(0, -1)), keys.find('')])
    .toEqual([undefined, undefined, undefined])
  keys.revoke(one)
  expect([keys.find(one), keys.find(other)]).toEqual([undefined, 'acme'])
})
