/** Gates for a store without a cluster: one that is always open, and one that a test controls. */

import type { OwnershipCheck } from '../../cluster/index.ts'

type Way = Pick<OwnershipCheck, 'confirm' | 'announce'>

export function checkThat(confirm: () => Promise<void>): Way {
  return { confirm, announce: () => ({ confirm, leave: () => {} }) }
}

export const openCheck: Way = checkThat(async () => {})
