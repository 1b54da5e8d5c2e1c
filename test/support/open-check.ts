/**
 * Ownership checks for a store without a cluster: one that is always open, and one that a test
 * controls.
 */

import type { OwnershipCheck } from '../../cluster/index.ts'

type Way = Pick<OwnershipCheck, 'confirm'>

/** A check that passes when `confirm` resolves. */
export function checkThat(confirm: () => Promise<void>): Way {
  return { confirm }
}

/** A check that always passes. */
export const openCheck: Way = checkThat(async () => {})
