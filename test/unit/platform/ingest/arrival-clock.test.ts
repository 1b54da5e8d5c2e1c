/** Times of arrival under a clock that is set. */

import { expect, it } from 'vitest'

import { clocksApartMs } from '../../../../src/limits/index.ts'
import { ArrivalClock } from '../../../../src/platform/ingest/arrival-clock.ts'

it('Times rise while the clock goes back a little, and follow it only where that is wanted', () => {
  let nowMs = 1_000_000
  const env = { nowMs: () => nowMs, monotonicMs: () => 0 }
  const [rising, following] = [new ArrivalClock(env), new ArrivalClock(env, { followsMs: 10_000 })]
  const times = () => [rising.nextUs(), following.nextUs()]
  expect(times()).toEqual([1_000_000_000, 1_000_000_000])
  nowMs -= 9_000
  expect(times()).toEqual([1_000_000_001, 1_000_000_001])
  nowMs -= 9_000
  expect(times()).toEqual([1_000_000_002, 982_000_000])
  expect(times()).toEqual([1_000_000_003, 982_000_001])
})

it('does not follow a clock that jumps ahead, so that a later patch wins after a restart', () => {
  let nowMs = 1_000_000
  const env = { nowMs: () => nowMs, monotonicMs: () => 0 }
  const clock = new ArrivalClock(env)
  nowMs += 365 * 86_400_000
  const ahead = clock.nextUs()
  nowMs = 1_000_000 + clocksApartMs
  expect(new ArrivalClock(env).nextUs()).toBeGreaterThanOrEqual(ahead)
})
