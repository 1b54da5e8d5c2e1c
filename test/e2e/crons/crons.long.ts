/** Each due time has exactly one run: kill -9, downtime and moved clocks at length. */

import { it } from 'vitest'
import { isNight } from '../../support/repeats.ts'
import { crossLives } from './lives.ts'

// By day, two kills show the same in `crons.test.ts`.
it.runIf(isNight)('fires once for each due time over twenty kills', () => crossLives(20))
