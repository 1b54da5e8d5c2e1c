/** Moves the pointer of a deployment at a roll-out, and moves it back. */

import type { Deployment, DeploymentChange } from '../deployment.ts'
import { changesBetween, keptSince, mergedChanges } from '../secret-set.ts'
import type { Rollout } from '../rollout.ts'

/** Change of the pointer and of the secrets, once all members have loaded both. */
export function movedPointer(deployment: Deployment, rollout: Rollout): DeploymentChange {
  const { kind, revision, percent, envVersion, now: movesRuns = false } = rollout
  const { active, previous } = deployment
  const secrets = loadedWith(deployment, rollout)
  if (kind === 'secrets') return { envVersion, ...secrets }
  if (percent < 100) return { next: { revision, percent }, movesRuns, ...secrets }
  return { active: revision, previous: active === revision ? previous : active, next: null,
    movesRuns, ...secrets }
}

/** Secrets that every later process starts with. Kept changes that came meanwhile stay kept. */
function loadedWith({ keptSecrets = [] }: Deployment,
  { envVersion, secrets, takesSecrets, keptThen = [] }: Rollout): DeploymentChange {
  if (secrets === undefined) return {}
  return { envVersion, loadedSecrets: { envVersion, entries: secrets },
    ...takesSecrets && { keptSecrets: keptSince(keptSecrets, keptThen) } }
}

/**
 * Change that moves the pointer back from a bad revision. No revision counts as the previous one
 * then, so that a rollback without a name never leads to the bad one. Runs that moved to it move
 * back.
 */
export function undonePointer(deployment: Deployment, rollout: Rollout): DeploymentChange {
  const { from, percent, now: movesRuns = false } = rollout
  return percent < 100
    ? { next: null, movesRuns }
    : { active: from, previous: null, next: null, movesRuns, ...secretsBack(deployment, rollout) }
}

/** Secrets with which the revision before was loaded. Changes that it did not have are kept. */
function secretsBack({ keptSecrets = [], envVersion: now }: Deployment,
  { secrets, takesSecrets, secretsBefore }: Rollout): DeploymentChange {
  if (!takesSecrets || secrets === undefined || secretsBefore === undefined) return {}
  const envVersion = now + 1
  return { envVersion, loadedSecrets: { envVersion, entries: secretsBefore },
    keptSecrets: mergedChanges(changesBetween(secretsBefore, secrets), keptSecrets) }
}
