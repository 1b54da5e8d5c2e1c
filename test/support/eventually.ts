/** Waiting for what happens soon, on any machine. */

import { vi } from 'vitest'

/** Only what never happens takes so long; a busy machine pauses for seconds. */
const timeout = 60_000

/** Resolves with the result of the check once it no longer throws. Rejects with its last error. */
export function eventually<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, { timeout, interval: 5 })
}
