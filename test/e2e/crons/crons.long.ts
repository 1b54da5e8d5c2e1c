/** Each due time has exactly one run: kill -9, downtime and moved clocks at length. */

import { it } from 'vitest'
import { crossLives } from './lives.ts'

it('fires once for each due time over twenty kills', () => crossLives(20))
