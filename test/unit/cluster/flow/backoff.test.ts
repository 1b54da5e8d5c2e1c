/** Pauses between tries: how they grow, and what chance does to them. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { Backoff, backoffMs, pauseMsMax } from '../../../../cluster/flow/backoff.ts'
import { virtualEnv } from '../../../support/env.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const range = { firstMs: 50, longestMs: 1_000 }

it('doubles the longest pause after each try, up to a limit', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 2_000].map((tries) => pauseMsMax(range, tries)))
    .toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000])
})

it('is never longer than that, and never shorter than half of it', () => {
  expectAlways(fc.property(
    fc.integer({ min: 1, max: 5_000 }),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    (tries, random) => {
      const ms = backoffMs(range, tries, random)
      expect(ms).toBeGreaterThanOrEqual(pauseMsMax(range, tries) / 2)
      expect(ms).toBeLessThanOrEqual(pauseMsMax(range, tries))
    },
  ))
})

it('begins anew after a reset', () => {
  const chances = [0, 0.5, 0]
  const backoff = new Backoff({ ...virtualEnv(), random: () => chances.shift()! }, range)
  const first = backoff.nextMs()
  const second = backoff.nextMs()
  backoff.reset()
  expect([first, second, backoff.nextMs()]).toEqual([25, 75, 25])
})
