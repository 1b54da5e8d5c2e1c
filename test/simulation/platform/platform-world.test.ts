/** The platform in random sequences of requests, restarts, clocks and deletions. */

import { expect, it } from 'vitest'

import { simulatePlatform } from './platform-world.ts'

// Faults of identity, of clocks and of concurrent changes are found by these.
const [sequences, stepsOfEach] = [3, 40]

it(`keeps exactly the data that was not deleted in ${sequences} random sequences`, async () => {
  for (let seed = 1; seed <= sequences; seed++) {
    const { findings, trace } = await simulatePlatform(seed, stepsOfEach)
    expect(findings, `seed ${seed}:\n${trace.join('\n')}`).toEqual([])
  }
}, 600_000)
