/** More threads live on the server as they would in process. */

import { itLives } from './lives/lives.ts'

itLives(1001, 90)
