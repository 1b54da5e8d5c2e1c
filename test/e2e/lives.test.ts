/** Threads of the server behave as they would in process, whatever is done to them. */

import { itLives } from './lives/lives.ts'

itLives(1, 12)
