/** The long crash test: kills at random moments. */

import { it } from 'vitest'
import { repeats } from '../support/repeats.ts'
import { crashRounds } from './crash/rounds.ts'

const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)

const kills = repeats({ day: 2, night: 20 })

it(`${kills} kills lose no acknowledged write (HEDDLE_SEED=${seed})`, async () => {
  await crashRounds({ kills, seed })
}, 900_000)
