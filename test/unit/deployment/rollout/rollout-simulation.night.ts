/** Many more simulated histories of roll-outs. */

import { expect, it } from 'vitest'

import { repeats } from '../../../support/repeats.ts'
import { simulateRollouts } from './rollout-simulation.ts'

it('keep the rules in many histories', async () => {
  const last = repeats({ day: 1_200, night: 3_000 })
  for (let seed = 1_001; seed <= last; seed++) {
    expect((await simulateRollouts(seed)).violations, `seed ${seed}`).toEqual([])
  }
}, 600_000)
