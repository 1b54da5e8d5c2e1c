/**
 * Lets the member that drives roll-outs look at them regularly, as messages about a change may be
 * lost.
 */

import type { Env } from '../../../cluster/index.ts'
import type { RolloutDriver } from '../../deployment/index.ts'

/** Milliseconds between looks at roll-outs. */
const lookMs = 5_000
/** Milliseconds between checks whether this member has become the driver, which cost no message. */
const ownerMs = 200

/** Driver of roll-outs, and the check whether this member is it. */
export interface DriverLooksParts {
  readonly env: Pick<Env, 'every'>
  readonly driver: Pick<RolloutDriver, 'look'>
  /** True if this member drives roll-outs. */
  owns(): boolean
}

/**
 * Looks from time to time, and as soon as this member takes over, until the returned function is
 * called.
 */
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
