/** What a member says of itself. */

import { expect, it } from 'vitest'

import { memberDetailsService } from '../../../../src/server/backends/member-details.ts'
import { virtualEnv } from '../../../support/env.ts'

it('A member says what it is, what it does, and how busy it was lately.', async () => {
  const env = virtualEnv()
  const startedAtMs = env.nowMs()
  let runs = 0
  const { answer } = memberDetailsService({ env, version: '1.2.3', tables: 9, actors: () => 7,
    runs: () => runs })
  expect(await answer(null)).toEqual({ version: '1.2.3', tables: 9, startedAtMs, actors: 7, runs: 0,
    load: 0 })
  runs = 3
  // The process worked for some time, and no time passed by this clock but a second.
  for (const until = process.cpuUsage().user + 50_000; process.cpuUsage().user < until;);
  env.advance(1_000)
  const { load } = await answer(null)
  expect(load).toBeGreaterThan(0)
  expect(load).toBeLessThanOrEqual(1)
  env.advance(999)
  expect(await answer(null)).toMatchObject({ runs: 3, load })
  // A long idle time counts, too.
  env.advance(10_000_000)
  expect((await answer(null)).load).toBeLessThan(load)
})
