/** A wall clock that is set is noticed, while the server is up and over a restart. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { lastClockJump, watchClock } from '../../../src/server/clock-jumps.ts'
import { virtualEnv } from '../../support/env.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-clock-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const dayMs = 86_400_000

/** A server's clock, and how often what waits for a time was looked at again. */
function watched() {
  const clock = virtualEnv()
  let [aheadMs, backs] = [0, 0]
  const env = { ...clock, nowMs: () => clock.nowMs() + aheadMs }
  const start = () => watchClock({ env, directory, wentBack: () => void backs++ })
  return {
    start,
    set: (ms: number) => void (aheadMs = ms),
    advance: clock.advance,
    backs: () => backs,
    seconds: () => clock.lines.map(({ level, details }) => [level, details['seconds']]),
    nowMs: env.nowMs,
  }
}

it('A jump of the clock is logged once and noted, and only one back makes others look', () => {
  const { start, set, advance, backs, seconds, nowMs } = watched()
  const stop = start()
  advance(60_000)
  // A clock that is kept right by the system moves a little.
  set(1_500)
  advance(60_000)
  expect([seconds(), lastClockJump(directory)]).toEqual([[], undefined])
  set(2 * dayMs)
  advance(60_000)
  expect(backs()).toBe(0)
  set(0)
  advance(10_000)
  expect(seconds()).toEqual([['warn', 172_799], ['warn', -172_800]])
  expect([backs(), lastClockJump(directory)]).toEqual([1, { atMs: nowMs(), byMs: -2 * dayMs }])
  stop()
})

it('A clock that went back while nothing was up is noticed at the start', () => {
  const { start, set, advance, backs, seconds } = watched()
  set(2 * dayMs)
  start()()
  advance(5_000)
  start()()
  expect(seconds()).toEqual([])
  set(0)
  start()()
  expect([backs(), seconds()]).toEqual([1, [['warn', -172_800]]])
  start()()
  expect(backs()).toBe(1)
})
