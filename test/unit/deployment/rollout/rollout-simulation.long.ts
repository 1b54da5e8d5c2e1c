/** Many more simulated histories of roll-outs. */

import { expect, it } from 'vitest'

import { simulateRollouts } from './rollout-simulation.ts'

it('keep the rules in many histories', async () => {
  for (let seed = 1_001; seed <= 2_000; seed++) {
    expect((await simulateRollouts(seed)).violations, `seed ${seed}`).toEqual([])
  }
}, 600_000)
