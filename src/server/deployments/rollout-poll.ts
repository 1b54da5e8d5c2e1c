/** When the member that drives roll-outs looks at them by itself: words of a change may be lost. */

import type { Env } from '../../../cluster/index.ts'
import type { RolloutDriver } from '../../deployment/index.ts'

/** Roll-outs are looked at this often. */
const lookMs = 5_000
/** Whether this member has become the driver is looked at this often, which asks nobody. */
const ownerMs = 200

/** Who drives, and what with. */
export interface DriverLooksParts {
  readonly env: Pick<Env, 'every'>
  readonly driver: Pick<RolloutDriver, 'look'>
  /** Whether this member drives roll-outs. */
  owns(): boolean
}

/** Looks from time to time, and as soon as this member takes over, until the result is called. */
export function lookAtRollouts({ env, driver, owns }: DriverLooksParts): () => void {
  let didOwn = owns()
  const ends = [
    env.every(lookMs, () => driver.look()),
    env.every(ownerMs, () => {
      const hasTakenOver = owns() && !didOwn
      didOwn = owns()
      if (hasTakenOver) driver.look()
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}
