/** The platform in 20 000 random steps of requests, restarts, clocks and deletions, by store. */

import { expect, it } from 'vitest'

import { isNight } from '../../support/repeats.ts'
import { simulatePlatform } from './platform-world.ts'

const [sequences, stepsOfEach] = [500, 40]
/** Each night has sequences of its own. */
const first = isNight ? 1_000 + Number(process.env['HEDDLE_SEARCH_SEED'] ?? 0) % 1e9 : 1_000

it.each(['embedded', 'Cassandra'] as const)(
  `keeps exactly the data that was not deleted in ${sequences} random sequences, %s store`,
  async (kind) => {
    for (let seed = first; seed < first + sequences; seed++) {
      const { findings, trace } = await simulatePlatform(seed, stepsOfEach, kind)
      expect(findings, `seed ${seed}:\n${trace.join('\n')}`).toEqual([])
    }
  },
  7_200_000,
)
