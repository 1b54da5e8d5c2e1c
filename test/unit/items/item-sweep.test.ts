/** The sweep of ended items: which items it removes, and by which clock. */

import { expect, it } from 'vitest'

import { sweepItems } from '../../../src/items/index.ts'
import { clockAhead } from '../../support/clock-ahead.ts'
import { virtualEnv } from '../../support/env.ts'
import { settled } from '../../support/thread-house.ts'

it('removes no item early while the clock of the machine is ahead', async () => {
  const env = virtualEnv()
  const limits: number[] = []
  const index = { ended: (beforeMs: number) => {
    limits.push(beforeMs)
    return Promise.resolve([])
  } }
  const stop = sweepItems({ env, index, router: { ask: () => Promise.resolve() }, everyMs: 60_000 })
  env.advance(60_000)
  await settled()
  await clockAhead(env, async () => env.advance(60_000))
  stop()
  const [before, ahead] = limits as [number, number]
  expect(ahead - before).toBeLessThanOrEqual(65_000)
})
