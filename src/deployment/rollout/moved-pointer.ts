/** Where the pointer of a deployment goes: when a roll-out moves it, and when that is undone. */

import type { Deployment, DeploymentChange } from '../deployment.ts'
import { changesBetween, keptSince, mergedChanges } from '../secret-set.ts'
import type { Rollout } from '../rollout.ts'

/** What changes of the pointer and of the secrets, once all have loaded both. */
export function movedPointer(deployment: Deployment, rollout: Rollout): DeploymentChange {
  const { kind, revision, percent, envVersion, now: movesRuns = false } = rollout
  const { active, previous } = deployment
  const secrets = loadedWith(deployment, rollout)
  if (kind === 'secrets') return { envVersion, ...secrets }
  if (percent < 100) return { next: { revision, percent }, movesRuns, ...secrets }
  return { active: revision, previous: active === revision ? previous : active, next: null,
    movesRuns, ...secrets }
}

/** Every later process starts with these. Kept changes that came meanwhile are kept still. */
function loadedWith({ keptSecrets = [] }: Deployment,
  { envVersion, secrets, takesSecrets, keptThen = [] }: Rollout): DeploymentChange {
  if (secrets === undefined) return {}
  return { envVersion, loadedSecrets: { envVersion, entries: secrets },
    ...takesSecrets && { keptSecrets: keptSince(keptSecrets, keptThen) } }
}

/**
 * What changes when the revision turns out bad. After that no revision counts as the previous one:
 * a rollback without a name must not end at the bad one. Runs that moved to it move back.
 */
export function undonePointer(deployment: Deployment, rollout: Rollout): DeploymentChange {
  const { from, percent, now: movesRuns = false } = rollout
  return percent < 100
    ? { next: null, movesRuns }
    : { active: from, previous: null, next: null, movesRuns, ...secretsBack(deployment, rollout) }
}

/** The revision before was loaded with other secrets. Those that it did not have are kept. */
function secretsBack({ keptSecrets = [], envVersion: now }: Deployment,
  { secrets, takesSecrets, secretsBefore }: Rollout): DeploymentChange {
  if (!takesSecrets || secrets === undefined || secretsBefore === undefined) return {}
  const envVersion = now + 1
  return { envVersion, loadedSecrets: { envVersion, entries: secretsBefore },
    keptSecrets: mergedChanges(changesBetween(secretsBefore, secrets), keptSecrets) }
}
