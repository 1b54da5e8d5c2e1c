/** The long version of lives.test.ts: more threads. */

import { itLives } from './lives/lives.ts'

itLives(1001, 90)
