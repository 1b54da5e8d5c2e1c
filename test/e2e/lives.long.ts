/** The long version of lives.test.ts: more threads. */

import { repeats } from '../support/repeats.ts'
import { itLives } from './lives/lives.ts'

itLives(1001, repeats({ day: 20, night: 90 }))
