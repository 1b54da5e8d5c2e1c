/** The platform in random sequences of requests, restarts, clocks and deletions. */

import { describe, expect, it } from 'vitest'

import { platformRules } from './platform-rule.ts'
import type { PlatformRule } from './platform-rule.ts'
import { simulatePlatform } from './platform-world.ts'
import type { StoreKind } from './platform-world.ts'

/** Seeds of the sequences over each store, and steps of each. */
const [seeds, stepsOfEach] = [{ embedded: [1, 3], Cassandra: [1, 3] }, 40] as const

/** The store and the first seed of a sequence that needs a rule soon. */
const searches: Readonly<
  Record<PlatformRule, { readonly kind: StoreKind; readonly seed: number }>
> = {
  cautious_clock: { kind: 'embedded', seed: 1 },
  life_follows: { kind: 'Cassandra', seed: 12 },
  all_places: { kind: 'Cassandra', seed: 23 },
  former_name: { kind: 'Cassandra', seed: 1 },
  removal_noted: { kind: 'Cassandra', seed: 3 },
}
/** Sequences that are tried without a rule. */
const triesMax = 100

it.each(['embedded', 'Cassandra'] as const)(
  'keeps exactly the data that was not deleted in random sequences over the %s store',
  async (kind) => {
    for (const seed of seeds[kind]) {
      const { findings, trace } = await simulatePlatform(seed, stepsOfEach, kind)
      expect(findings, `seed ${seed}:\n${trace.join('\n')}`).toEqual([])
    }
  },
  600_000,
)

describe('a platform without one of the rules', () => {
  it.each(platformRules)('breaks a promise: %s', async (rule) => {
    const { kind, seed: first } = searches[rule]
    let found = 0
    for (let seed = first; found === 0 && seed < first + triesMax; seed++) {
      const { findings } = await simulatePlatform(seed, stepsOfEach, kind, rule)
      if (findings.length > 0) found = seed
    }
    expect(found).toBeGreaterThan(0)
  }, 600_000)
})
