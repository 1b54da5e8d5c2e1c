/** The long crash test: twenty kills, at random moments. */

import { it } from 'vitest'
import { crashRounds } from './crash/rounds.ts'

const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)

it(`Twenty kills lose no acknowledged write (HEDDLE_SEED=${seed})`, async () => {
  await crashRounds({ kills: 20, seed })
}, 900_000)
