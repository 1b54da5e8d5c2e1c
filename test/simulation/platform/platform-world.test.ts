/** The platform in random sequences of requests, restarts, clocks and deletions. */

import { expect, it } from 'vitest'

import { simulatePlatform } from './platform-world.ts'

/** Seeds of the sequences over each store, and steps of each. */
const [seeds, stepsOfEach] = [{ embedded: [1, 3], Cassandra: [2] }, 40] as const

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
