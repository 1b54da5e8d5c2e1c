/** A server under load is killed: what was acknowledged is there, what was cut short goes on. */

import { it } from 'vitest'
import { crashRounds } from './crash/rounds.ts'

it('Three kills lose nothing that was acknowledged and leave nothing busy', async () => {
  await crashRounds({ kills: 3, seed: 1 })
})
