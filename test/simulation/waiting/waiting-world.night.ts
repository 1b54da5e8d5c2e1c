/** The wait of a thread in thousands of random histories. */

import { expect, it } from 'vitest'

import { isNight } from '../../support/repeats.ts'
import { simulateWaiting } from './waiting-world.ts'

const histories = 5_000
/** Each nightly run has histories of its own. */
const first = isNight ? 1_000 + Number(process.env['HEDDLE_SEARCH_SEED'] ?? 0) % 1e9 : 1_000

it(`shows the wait that the log has in ${histories} random histories`, async () => {
  for (let seed = first; seed < first + histories; seed++) {
    const { findings, trace } = await simulateWaiting(seed)
    expect(findings, `seed ${seed}:\n${trace.join('\n')}`).toEqual([])
  }
}, 7_200_000)
