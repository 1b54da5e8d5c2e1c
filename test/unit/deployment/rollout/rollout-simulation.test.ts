/** Roll-outs of a simulated cluster under crashes, joins, lost calls and several drivers. */

import { expect, it } from 'vitest'

import { repeats } from '../../../support/repeats.ts'
import { simulateRollouts } from './rollout-simulation.ts'

it('keep the rules whatever fails, and end', async () => {
  const results = new Set<string>()
  for (let seed = 1; seed <= repeats({ day: 20, night: 40 }); seed++) {
    const history = await simulateRollouts(seed)
    expect(history.violations, `seed ${seed}`).toEqual([])
    for (const result of history.results) results.add(result)
  }
  // Otherwise the histories would be too dull to prove anything.
  expect([...results]).toEqual(
    expect.arrayContaining(['activate done', 'activate refused', 'activate failed',
      'activate rolled_back', 'check done', 'rollback done', 'secrets done']),
  )
})
