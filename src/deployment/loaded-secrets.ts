/** The set of secrets that a deployment has now, and all values that its record names. Pure. */

import type { Deployment } from './deployment.ts'
import type { SecretSet } from './secret-set.ts'

/** A deployment, as far as its secrets go. */
type WithSecrets = Pick<Deployment, 'envVersion' | 'loadedSecrets' | 'keptSecrets'>

/**
 * The set that was loaded last; undefined if none was, or if a program before sets has changed
 * secrets since.
 */
export function loadedSecretsOf({ envVersion, loadedSecrets }: WithSecrets): SecretSet | undefined {
  return loadedSecrets?.envVersion === envVersion ? loadedSecrets.entries : undefined
}

/** The set that processes of a revision start with: one that is rolled out has that of its time. */
export function secretsFor(deployment: Deployment, revision: string): SecretSet | undefined {
  const { active, rollout } = deployment
  const isNext = rollout?.revision === revision && active !== revision
  return isNext && rollout.takesSecrets ? rollout.secrets : loadedSecretsOf(deployment)
}

/** All places that a deployment names. Values in other places may be deleted. */
export function placesIn(
  { loadedSecrets, keptSecrets = [], rollout }: Deployment,
): ReadonlySet<string> {
  const { secrets = [], secretsBefore = [] } = rollout ?? {}
  const all = [...loadedSecrets?.entries ?? [], ...keptSecrets, ...secrets, ...secretsBefore]
  return new Set(all.flatMap(({ place }) => place ?? []))
}
