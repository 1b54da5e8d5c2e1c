/** Replays in simulated worlds: each verdict says what is so, nothing leaves, and why. */

import { describe, expect, it } from 'vitest'

import { repeats } from '../../support/repeats.ts'
import { Chance } from '../chance.ts'
import { replayRules } from './replay-rule.ts'
import { simulateReplays } from './replay-world.ts'

const worlds = repeats({ day: 25, night: 1_200 })
const longMs = 600_000

it(`gives true verdicts in ${worlds} worlds of runs that fail, wait, and are flaky`, async () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= worlds; seed++) {
    const { findings, verdicts } = await simulateReplays(new Chance(seed))
    expect(findings, `seed ${seed}`).toEqual([])
    for (const [name, count] of Object.entries(verdicts)) sums[name] = (sums[name] ?? 0) + count
  }
  // Worlds in which all comes out alike would prove nothing.
  for (const name of ['same', 'diverged', 'unstable']) {
    expect(sums[name], name).toBeGreaterThan(worlds / 3)
  }
}, longMs)

describe('a world of replays without one of the rules', () => {
  it.each(replayRules)('breaks a promise: %s', async (rule) => {
    let found = 0
    for (let seed = 1; found === 0 && seed <= 100; seed++) {
      if ((await simulateReplays(new Chance(seed), rule)).findings.length > 0) found = seed
    }
    expect(found).toBeGreaterThan(0)
  }, longMs)
})
