/** A server under load is killed: acknowledged writes are there, interrupted runs continue. */

import { it } from 'vitest'
import { crashRounds } from './crash/rounds.ts'

it('Three kills lose no acknowledged write and leave no thread busy', async () => {
  await crashRounds({ kills: 3, seed: 1 })
})
