/** A hedged request: the first success counts; it fails only once both copies have failed. */

import { errors, types } from 'cassandra-driver'
import { beforeEach, expect, it } from 'vitest'

import { hedgedWrite } from '../../../../../src/store/cassandra/driver/hedged-write.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

const { responseErrorCodes: codes } = types
const failures = {
  unknown: new errors.OperationTimedOutError('late', 'h'),
  refused: new errors.ResponseError(codes.invalid, 'no such table'),
  notDone: new errors.ResponseError(codes.unavailableException, 'too few'),
} as const

let env: VirtualEnv
let copies: PromiseWithResolvers<string>[]
let outcome: unknown

beforeEach(() => {
  env = virtualEnv()
  copies = []
  outcome = 'none yet'
  hedgedWrite(env, 200, () => {
    const copy = Promise.withResolvers<string>()
    copies.push(copy)
    return copy.promise
  }).then((answer) => {
    outcome = answer
  }, (error: unknown) => {
    outcome = error
  })
})

const settled = () => new Promise(setImmediate)

it('A request is sent once if the answer comes in time.', async () => {
  env.advance(199)
  copies[0]!.resolve('first')
  await settled()
  env.advance(1_000)
  expect([outcome, copies.length, env.timers()]).toEqual(['first', 1, 0])
})

it.each([[0, 1], [1, 0]])('The first answer counts: of copy %i.', async (quick, slow) => {
  env.advance(200)
  expect(copies.length).toBe(2)
  copies[quick]!.resolve('quick')
  await settled()
  copies[slow]!.reject(failures.unknown)
  await settled()
  env.advance(10_000)
  expect([outcome, copies.length]).toEqual(['quick', 2])
})

it('A request that has failed is not sent again.', async () => {
  copies[0]!.reject(failures.notDone)
  await settled()
  env.advance(1_000)
  expect([outcome, copies.length, env.timers()]).toEqual([failures.notDone, 1, 0])
})

it.each([
  ['unknown', 'refused', 'unknown'],
  ['refused', 'unknown', 'unknown'],
  ['notDone', 'unknown', 'unknown'],
  ['notDone', 'refused', 'refused'],
  ['notDone', 'notDone', 'notDone'],
] as const)('If both fail, %s and then %s, the outcome is %s.', async (one, other, both) => {
  env.advance(200)
  copies[1]!.reject(failures[one])
  await settled()
  expect(outcome).toBe('none yet')
  copies[0]!.reject(failures[other])
  await settled()
  expect(outcome).toBe(failures[both])
})

it('A request succeeds if one copy does after the other has failed.', async () => {
  env.advance(200)
  copies[1]!.reject(failures.refused)
  await settled()
  copies[0]!.resolve('late')
  await settled()
  expect(outcome).toBe('late')
})
