/** Threads of the server behave as they would in process, whatever is done to them. */

import { repeats } from '../support/repeats.ts'
import { itLives } from './lives/lives.ts'

itLives(1001, repeats({ day: 5, night: 40 }))
