/** A change of a deployment reaches all members, and waits for none of them for long. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { announcer } from '../../../../src/server/deployments/announcer.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'

/** Members of which one answers at once, one never and one with an error. */
function announcing() {
  const env = virtualEnv()
  const seen: string[] = []
  const announce = announcer({ env, self: () => 'self',
    learn: async (name) => void seen.push(`self ${name}`),
    members: { live: () => ['self', 'well', 'mute', 'old'], learn: (member, name) => {
      seen.push(`${member} ${name}`)
      if (member === 'mute') return new Promise(() => {})
      return member === 'old' ? Promise.reject(new HeddleError('unavailable')) : Promise.resolve()
    } } })
  return { env, seen, announce }
}

it('asks each member once, and is over after two seconds if one does not answer', async () => {
  const { env, seen, announce } = announcing()
  let isOver = false
  const announced = announce('shop').then(() => {
    isOver = true
  })
  await settled()
  expect(seen.toSorted()).toEqual(['mute shop', 'old shop', 'self shop', 'well shop'])
  env.advance(1_999)
  await settled()
  expect(isOver).toBe(false)
  env.advance(1)
  await announced
})
