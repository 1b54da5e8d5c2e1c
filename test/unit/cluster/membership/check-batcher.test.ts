/** When the next validation begins: at once, with others, or after a while. */

import { expect, it } from 'vitest'

import { CheckBatcher } from '../../../../cluster/membership/check-batcher.ts'
import { virtualEnv } from '../../../support/env.ts'

function newBatcher() {
  const env = virtualEnv()
  let begun = 0
  const batcher = new CheckBatcher({ env, begin: () => begun++ })
  return { env, batcher, begun: () => begun }
}

/** Passes time in which promises, but no timers, continue. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

it('begins one validation for all that ask in one tick', async () => {
  const { batcher, begun } = newBatcher()
  batcher.request(false)
  batcher.request(false)
  expect(begun()).toBe(0)
  await settle()
  expect(begun()).toBe(1)
})

it('begins one at a time', async () => {
  const { batcher, begun } = newBatcher()
  batcher.request(false)
  await settle()
  batcher.request(false)
  await settle()
  expect(begun()).toBe(1)
  batcher.ended()
  batcher.request(false)
  await settle()
  expect(begun()).toBe(2)
})

it('rests while the store is out of reach', async () => {
  const { env, batcher, begun } = newBatcher()
  batcher.request(true)
  batcher.request(true)
  await settle()
  env.advance(249)
  expect([begun(), env.timers()]).toEqual([0, 1])
  env.advance(1)
  expect(begun()).toBe(1)
})

it('begins nothing after it was stopped', async () => {
  const { env, batcher, begun } = newBatcher()
  batcher.request(true)
  batcher.stop()
  batcher.request(false)
  await settle()
  env.advance(1_000)
  expect([begun(), env.timers()]).toEqual([0, 0])
})
