/** The secrets of deployments, kept as those of workspaces that no user can have. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { cautiousClock } from '../../limits/index.ts'
import type { CautiousClock } from '../../limits/index.ts'
import { isSecretName } from '../../platform/index.ts'
import type { OpenSecrets } from '../../platform/index.ts'
import type { Deployment } from '../deployment.ts'
import type { DeploymentSecret, DeploymentSecrets, SecretValues } from '../deployments.ts'
import { deploymentsTenant } from '../namespace.ts'
import { loadedSecretsOf, placesIn } from '../loaded-secrets.ts'
import { afterChanges } from '../secret-set.ts'
import type { SecretEntry, SecretSet } from '../secret-set.ts'

/** Characters of a name. */
const nameMax = 100
/** Characters of a value, and bytes of its UTF-8. */
const valueMax = 64 * 1024
/** Secrets of a deployment. */
const secretsMax = 100
/** Milliseconds for which an unnamed value is kept: a record may be about to name it. */
const unnamedMs = 3_600_000

/** The secrets of workspaces, as far as deployments use them. */
type StoredSecrets = Pick<OpenSecrets,
  'details' | 'replace' | 'delete' | 'revealAll' | 'drop' | 'add' | 'revealSome' | 'sweep'
    | 'unopened'>

/** Secrets of deployments over those of the platform. */
export function deploymentSecretsOver(secrets: StoredSecrets,
  env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>): DeploymentSecrets {
  return new StoredDeploymentSecrets(secrets, env)
}

/**
 * Values have places of their own, which are written once. Programs before sets know one value for
 * each name: it is set to what was loaded, for members and for an upgrade that goes back.
 */
class StoredDeploymentSecrets implements DeploymentSecrets {
  readonly #secrets: StoredSecrets
  readonly #cautiousNowMs: CautiousClock
  readonly #env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>

  constructor(secrets: StoredSecrets, env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>) {
    this.#secrets = secrets
    this.#env = env
    this.#cautiousNowMs = cautiousClock(env)
  }

  list(id: string): Promise<readonly DeploymentSecret[]> {
    return this.#secrets.details(tenantOf(id))
  }

  async reveal(id: string, set?: SecretSet): Promise<Readonly<Record<string, string>>> {
    if (set === undefined) return Object.fromEntries(await this.#secrets.revealAll(tenantOf(id)))
    const places = set.flatMap(({ place }) => place ?? [])
    const values = await this.#secrets.revealSome(placesOf(id), places)
    return Object.fromEntries(set.map(({ name, place }) => {
      const value = values.get(place ?? '')
      if (value !== undefined) return [name, value]
      throw new HeddleError('unavailable', `The secret ${name} has another value meanwhile.`)
    }))
  }

  async seal(deployment: Deployment, change: SecretValues): Promise<SecretSet> {
    for (const [name, value] of change) if (value !== null) requireModest(name, value)
    const before = await this.#wanted(deployment)
    const versions = new Map(before.map(({ name, version }) => [name, version]))
    const updatedAtMs = this.#env.nowMs()
    const entries = [...change].map(([name, value]): SecretEntry => ({ name, updatedAtMs,
      version: (versions.get(name) ?? 0) + 1, place: value === null ? null : this.#newPlace() })
    )
    if (afterChanges(before, entries).length > secretsMax) {
      throw new HeddleError('full', `A deployment may have ${secretsMax} secrets: remove one.`)
    }
    await this.#secrets.add(placesOf(deployment.id), new Map(
      entries.flatMap(({ name, place }) => place === null ? [] : [[place, change.get(name)!]]),
    ))
    return entries
  }

  async unopened(deployment: Deployment): Promise<readonly string[]> {
    const { id } = deployment
    const closed = new Set(await this.#secrets.unopened(placesOf(id)))
    const legacy = new Set(await this.#secrets.unopened(tenantOf(id)))
    return (await this.#wanted(deployment)).filter(({ name, place }) =>
      place === '' ? legacy.has(name) : closed.has(place!)
    ).map(({ name }) => name)
  }

  async fixed(deployment: Deployment, change: SecretSet = []): Promise<SecretSet> {
    const loaded = loadedSecretsOf(deployment)
    if (loaded !== undefined) return loaded
    const { id } = deployment
    // Their versions before their values: a change in between is a newer version of the same name.
    const replaced = new Set(
      [...deployment.keptSecrets ?? [], ...change].map(({ name }) => name),
    )
    const details = (await this.list(id)).filter(({ name }) => !replaced.has(name))
    if (details.length === 0) return []
    const values = await this.#secrets.revealSome(tenantOf(id), details.map(({ name }) => name))
    const entries = details.filter(({ name }) => values.has(name))
      .map((each): SecretEntry & { readonly place: string } => ({ ...each,
        place: this.#newPlace() })
      )
    await this.#secrets.add(placesOf(id), new Map(
      entries.map(({ name, place }) => [place, values.get(name)!]),
    ))
    return entries
  }

  async settle(deployment: Deployment): Promise<void> {
    const { id, active } = deployment
    const loaded = loadedSecretsOf(deployment)
    if (loaded !== undefined) await this.#mirror(id, loaded)
    // Nothing serves yet that kept changes could harm.
    else if (active === null) await this.#mirror(id, await this.#wanted(deployment))
    const places = placesIn(deployment)
    const oldMs = this.#cautiousNowMs() - unnamedMs
    await this.#secrets.sweep(placesOf(id),
      (place, createdAtMs) => places.has(place) || createdAtMs > oldMs)
  }

  async drop(id: string): Promise<void> {
    await this.#secrets.drop(tenantOf(id))
    await this.#secrets.drop(placesOf(id))
  }

  /** The secrets after the kept changes. Those of programs before sets have an empty place. */
  async #wanted(deployment: Deployment): Promise<SecretSet> {
    const present = loadedSecretsOf(deployment)
      ?? (await this.list(deployment.id)).map((each) => ({ ...each, place: '' }))
    return afterChanges(present, deployment.keptSecrets ?? [])
  }

  async #mirror(id: string, set: SecretSet): Promise<void> {
    const known = new Map((await this.list(id)).map(({ name, version }) => [name, version]))
    const late = set.filter(({ name, version, place }) =>
      place !== '' && known.get(name) !== version
    )
    const values = late.length === 0 ? {} : await this.reveal(id, late)
    const names = new Set(set.map(({ name }) => name))
    // First those that go: there may be no room for more.
    for (const name of known.keys())
      if (!names.has(name)) await this.#secrets.delete(tenantOf(id), name)
    for (const { name, version } of late) {
      await this.#secrets.replace(tenantOf(id), { name, version, value: values[name]!,
        charactersMax: valueMax })
    }
  }

  #newPlace(): string {
    return `P_${this.#env.uuid().replaceAll('-', '')}`
  }
}

function tenantOf(deployment: string): string {
  return `${deploymentsTenant}${deployment}`
}

/** Workspace that keeps values by their places, which records of deployments name. */
function placesOf(deployment: string): string {
  return `${tenantOf(deployment)}.places`
}

function requireModest(name: string, value: string): void {
  if (name.length > nameMax || !isSecretName(name)) {
    throw new HeddleError('invalid', `name: it is a name such as OPENAI_API_KEY, of at most ` +
      `${nameMax} characters.`)
  }
  if (value === '') throw new HeddleError('invalid', 'value: it must not be empty.')
  // No variable of a process can have it.
  if (value.includes('\0')) throw new HeddleError('invalid', 'value: it must not have a NUL.')
  if (Buffer.byteLength(value) > valueMax) {
    throw new HeddleError('invalid', `value: it has at most ${valueMax} bytes.`)
  }
}
