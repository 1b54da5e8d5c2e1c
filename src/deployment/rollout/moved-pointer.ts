/** Where the pointer of a deployment goes: when a roll-out moves it, and when that is undone. */

import type { Deployment, DeploymentChange } from '../deployment.ts'
import type { Rollout } from './rollout.ts'

/** What changes of the pointer, or of the version of the secrets, once all have loaded it. */
export function movedPointer(deployment: Deployment, rollout: Rollout): DeploymentChange {
  const { kind, revision, percent, envVersion, now: movesRuns = false } = rollout
  const { active, previous } = deployment
  if (kind === 'secrets') return { envVersion }
  if (percent < 100) return { next: { revision, percent }, movesRuns }
  return { active: revision, previous: active === revision ? previous : active, next: null,
    movesRuns }
}

/**
 * What changes when the revision turns out bad. After that no revision counts as the previous one:
 * a rollback without a name must not end at the bad one. Runs that moved to it move back.
 */
export function undonePointer(
  { from, percent, now: movesRuns = false }: Rollout,
): DeploymentChange {
  return percent < 100
    ? { next: null, movesRuns }
    : { active: from, previous: null, next: null, movesRuns }
}
