/** The log says when a member's clock differs from Cassandra's, and when it is right again. */

import { expect, it } from 'vitest'

import { clocksApartMs } from '../../../../src/limits/index.ts'
import { clockWatch } from '../../../../src/server/backends/clock-watch.ts'
import { virtualEnv } from '../../../support/env.ts'

it('A clock that is off is logged once, and once when it is right again.', async () => {
  const env = virtualEnv()
  let aheadMs = 0
  const look = clockWatch({ clockAheadMs: async () => aheadMs }, env.log)
  const half = clocksApartMs / 2
  for (aheadMs of [half - 1, half, 3 * half, 1 - half, -half]) await look()
  expect(env.lines.map(({ level, details }) => [level, details])).toEqual([
    ['warn', { secondsAhead: 3 }],
    ['info', {}],
    ['warn', { secondsAhead: -2 }],
  ])
})

it('A clock that cannot be read is not logged as off.', async () => {
  const env = virtualEnv()
  const look = clockWatch({ clockAheadMs: () => Promise.reject(new Error('away')) }, env.log)
  await expect(look()).rejects.toThrow('away')
  expect(env.lines).toEqual([])
})
