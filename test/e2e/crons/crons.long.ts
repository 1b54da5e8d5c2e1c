/** Each due time has exactly one run: kill -9, downtime and moved clocks. */

import { it } from 'vitest'
import { repeats } from '../../support/repeats.ts'
import { crossLives } from './lives.ts'

const kills = repeats({ day: 1, night: 4 })

it(`fires once for each due time over ${kills} kills`, () => crossLives(kills))
