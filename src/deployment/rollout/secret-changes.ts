/** Changes secrets of a deployment: kept for the next roll-out, or loaded at once. */

import { HeddleError } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments, DeploymentSecret, DeploymentSecrets,
  SecretValues } from '../deployments.ts'
import { loadedSecretsOf } from '../loaded-secrets.ts'
import { afterChanges, mergedChanges } from '../secret-set.ts'
import type { SecretEntry, SecretSet } from '../secret-set.ts'
import type { Activated, Rollouts } from './rollouts.ts'

/** Records, secrets and roll-outs for changing secrets. */
export interface SecretChangeParts {
  readonly records: Pick<Deployments, 'get' | 'change'>
  readonly secrets: Pick<DeploymentSecrets, 'seal' | 'settle'>
  readonly rollouts: Pick<Rollouts, 'loadSecrets'>
}

/** Author of a change of secrets, and whether the active revision loads it now. */
export interface SecretsRequest {
  readonly by: string
  readonly message: string
  /** False to keep them for the next roll-out. */
  readonly loads: boolean
  /** False to answer as soon as the roll-out has begun. */
  readonly wait: boolean
}

/** Result of a change of secrets. */
export interface ChangedSecrets {
  /** Its secrets with their versions, in the order of the change. */
  readonly entries: SecretSet
  /** Undefined if they are only kept. */
  readonly activated: Activated | undefined
}

/** Tries of a change, as others may change the record at the same time. */
const triesMax = 20

/**
 * All of a change is one version. Without an active revision it is only kept. Throws as
 * `loadSecrets` does: then nothing has changed.
 */
export async function changeSecrets(parts: SecretChangeParts, deployment: Deployment,
  values: SecretValues, { loads, ...options }: SecretsRequest): Promise<ChangedSecrets> {
  const { secrets, rollouts } = parts
  const entries = await secrets.seal(deployment, values)
  if (!loads || deployment.active === null) {
    await secrets.settle(await keep(parts, deployment, entries))
    return { entries, activated: undefined }
  }
  const activated = await rollouts.loadSecrets(deployment.name, { ...options, change: entries })
  if (options.wait) requireLoaded(activated, entries)
  return { entries, activated }
}

async function keep({ records }: SecretChangeParts, first: Deployment,
  entries: SecretSet): Promise<Deployment> {
  let before = first
  for (let tries = 1;; tries++) {
    try {
      return await records.change(before, {
        keptSecrets: mergedChanges(before.keptSecrets ?? [], entries),
      })
    } catch (error) {
      if (HeddleError.from(error).code !== 'stale' || tries === triesMax) throw error
      before = await records.get(first.name)
      if (before.removing || before.id !== first.id) throw error
    }
  }
}

/** Throws if the roll-out moved without the secrets, as a driver of an older program does. */
function requireLoaded({ deployment, rollout }: Activated, entries: SecretSet): void {
  if ('result' in rollout && rollout.result !== 'done') return
  const loaded = new Map(loadedSecretsOf(deployment)?.map(({ name, place }) => [name, place]))
  if (entries.every(({ name, place }) => (loaded.get(name) ?? null) === place)) return
  throw new HeddleError('not_ready', 'The secrets were not changed: a member that runs an older ' +
    'program drives roll-outs, or they were changed again meanwhile. Set them again.')
}

/**
 * in_use   the code has it
 * kept     the next roll-out brings this value
 * removed  the next roll-out takes it away
 */
export type SecretState = 'in_use' | 'kept' | 'removed'

/** A secret as it is shown. */
export interface ShownSecret extends DeploymentSecret {
  readonly state: SecretState
}

/** All of a deployment by name. `listed` are those that programs before sets know. */
export function shownSecrets(deployment: Deployment,
  listed: readonly DeploymentSecret[]): readonly ShownSecret[] {
  const kept = new Map((deployment.keptSecrets ?? []).map((entry) => [entry.name, entry]))
  const present: readonly SecretEntry[] = loadedSecretsOf(deployment) ??
    listed.map((each) => ({ ...each, place: each.name }))
  const changed = mergedChanges(afterChanges(present, []), [...kept.values()])
  return changed.filter(({ name, place }) =>
    place !== null || present.some((each) => each.name === name)
  ).map(({ name, version, updatedAtMs, place }) => ({ name, version, updatedAtMs,
    state: place === null ? 'removed' : kept.has(name) ? 'kept' : 'in_use' })
  )
}
