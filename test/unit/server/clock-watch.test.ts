/** A clock that is not that of Cassandra is told of when it goes wrong, and when it is right. */

import { expect, it } from 'vitest'

import { clocksApartMs } from '../../../src/records/index.ts'
import { clockWatch } from '../../../src/server/clock-watch.ts'
import { virtualEnv } from '../../support/env.ts'

it('tells once that the clock is off, either way, and once that it is right again', async () => {
  const env = virtualEnv()
  let aheadMs = 0
  const look = clockWatch({ clockAheadMs: async () => aheadMs }, env.log)
  const half = clocksApartMs / 2
  for (aheadMs of [half - 1, half, 3 * half, 1 - half, -half]) await look()
  expect(env.lines.map(({ level, facts }) => [level, facts])).toEqual([
    ['warn', { secondsAhead: 3 }], ['info', {}], ['warn', { secondsAhead: -2 }],
  ])
})

it('thinks nothing of a clock that cannot be asked', async () => {
  const env = virtualEnv()
  const look = clockWatch({ clockAheadMs: () => Promise.reject(new Error('away')) }, env.log)
  await expect(look()).rejects.toThrow('away')
  expect(env.lines).toEqual([])
})
