/** One timer for several: when its work is done, and how often. */

import { expect, it } from 'vitest'

import { EarliestTimer } from '../../../../cluster/flow/earliest-timer.ts'
import { virtualEnv } from '../../../support/env.ts'

it('does its work once, at the earliest time that it was asked for', () => {
  const env = virtualEnv()
  let done = 0
  const timer = new EarliestTimer(env, () => done++)
  timer.within(100)
  timer.within(30)
  timer.within(60)
  env.advance(29)
  expect([done, env.timers()]).toEqual([0, 1])
  env.advance(1)
  expect([done, env.timers()]).toEqual([1, 0])
  timer.within(10)
  env.advance(10)
  expect(done).toBe(2)
})

it('does nothing after it was closed', () => {
  const env = virtualEnv()
  let done = 0
  const timer = new EarliestTimer(env, () => done++)
  timer.within(10)
  timer.close()
  timer.within(10)
  env.advance(100)
  expect([done, env.timers()]).toEqual([0, 0])
})
