/** Each due time has exactly one run, also if the server is killed around it. */

import { it } from 'vitest'
import { crossLives } from './lives.ts'

it('fires once for each due time over two kills', () => crossLives(2))
