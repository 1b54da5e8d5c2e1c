/** A member without crons, for tests of a front door. */

import type { FrontDoorOptions } from '../../../src/frontdoor/index.ts'
import { HeddleError } from '../../../src/errors.ts'

const missing = () => Promise.reject(new HeddleError('not_found', 'There are no crons here.'))

/** Finds no cron, and makes none. */
export const noCrons: Pick<FrontDoorOptions, 'crons' | 'cronIndex' | 'runIndex'> = {
  crons: { create: missing, get: missing, patch: missing, delete: missing, triggered: missing,
    isSettled: async () => true },
  runIndex: { search: async () => ({ rows: [], next: undefined }) },
  cronIndex: { search: async () => ({ rows: [], total: 0 }), count: async () => 0 },
}
