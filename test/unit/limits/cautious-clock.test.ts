/** The clock by which data is deleted. */

import { expect, it } from 'vitest'

import { cautiousClock } from '../../../src/limits/index.ts'
import { virtualEnv } from '../../support/env.ts'

const dayMs = 86_400_000

function shiftedEnv() {
  const env = virtualEnv()
  const shift = { ms: 0 }
  return { env, shift, shifted: { ...env, nowMs: () => env.nowMs() + shift.ms } }
}

it('a cautious clock does not follow a wall clock that jumps ahead', () => {
  const { env, shift, shifted } = shiftedEnv()
  const nowMs = cautiousClock(shifted)
  env.advance(1_000)
  shift.ms = 500 * dayMs
  expect(nowMs() - env.nowMs()).toBeLessThan(60_000)
})

it('a cautious clock follows a wall clock that is set back', () => {
  const { shift, shifted, env } = shiftedEnv()
  const nowMs = cautiousClock(shifted)
  shift.ms = -dayMs
  expect(nowMs()).toBe(env.nowMs() - dayMs)
})

it('a cautious clock shows whole milliseconds, as rows store them', () => {
  const { env, shift, shifted } = shiftedEnv()
  const nowMs = cautiousClock({ ...shifted, monotonicMs: () => env.monotonicMs() * 1.0001 })
  env.advance(1_000)
  shift.ms = 500 * dayMs
  expect(nowMs()).toSatisfy(Number.isInteger)
})
