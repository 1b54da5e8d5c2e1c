/** Gates for a store without a cluster: one that is always open, and one that a test controls. */

import type { Gate } from '../../cluster/index.ts'

type Way = Pick<Gate, 'pass' | 'approach'>

export function gateThat(pass: () => Promise<void>): Way {
  return { pass, approach: () => ({ pass, leave: () => {} }) }
}

export const openGate: Way = gateThat(async () => {})
