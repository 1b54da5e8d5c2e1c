/** Threads that have left the memory and expire later. */

import { expect, it } from 'vitest'

import { LateExpiries } from '../../../../src/thread/context/late-expiries.ts'
import { virtualEnv } from '../../../support/env.ts'

function house(limit = 2) {
  const env = virtualEnv()
  const expired: string[] = []
  const state = { isAway: false, owns: true }
  const expiries = new LateExpiries({ env, limit, epochOf: () => state.owns ? 1 : undefined,
    activations: { ask: async ({ id }, _, command) => {
      if (state.isAway) throw new Error('away')
      expect(command).toEqual({ type: 'expire' })
      expired.push(id)
    } } })
  const pass = async (ms: number) => {
    env.advance(ms)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
  return { env, expiries, expired, state, pass }
}

it('A thread expires when its time is up, and a later time replaces an earlier one.', async () => {
  const { env, expiries, expired, pass } = house()
  expect(expiries.note('t', 'a', 60)).toBe(true)
  await pass(30)
  expect(expiries.note('t', 'b', 60)).toBe(true)
  expect(expiries.note('t', 'a', 60)).toBe(true)
  await pass(50)
  expect(expired).toEqual([])
  await pass(10)
  expect(expired).toEqual(['b', 'a'])
  expect(env.timers()).toBe(0)
})

it('Threads that have left are bounded in number.', async () => {
  const { expiries } = house()
  expect(['a', 'b', 'c', 'b'].map((id) => expiries.note('t', id, 60)))
    .toEqual([true, true, false, true])
})

it('A thread that cannot be loaded is tried again, unless another member has it.', async () => {
  const { expiries, expired, state, pass } = house()
  state.isAway = true
  expiries.note('t', 'a', 60)
  await pass(60)
  state.isAway = false
  await pass(60)
  expect(expired).toEqual(['a'])
  expiries.note('t', 'b', 60)
  state.owns = false
  await pass(200)
  expect(expired).toEqual(['a'])
})
