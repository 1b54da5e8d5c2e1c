/** The crash test at length: twenty kills, at moments that are new at every run. */

import { it } from 'vitest'
import { crashRounds } from './crash/rounds.ts'

const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)

it(`Twenty kills lose nothing that was acknowledged (HEDDLE_SEED=${seed})`, async () => {
  await crashRounds({ kills: 20, seed })
}, 900_000)
