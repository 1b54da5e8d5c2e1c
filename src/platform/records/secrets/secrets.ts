/** Secrets of workspaces, such as keys of models: listed by name only, and stored sealed. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError, ignoreNotFound, ignoreStale } from '../../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import { namedId } from '../catalog/named-id.ts'
import { opened, sealed } from './secret-box.ts'
import type { SecretsKeys } from './secrets-key.ts'

/** The secrets of tenants. All methods throw HeddleError. */
export interface Secrets {
  /** All names, in their order. */
  list(tenant: string): Promise<readonly string[]>
  /** Replaces the one with this name. */
  set(tenant: string, name: string, value: string): Promise<void>
  /** One that does not exist is ignored. */
  delete(tenant: string, name: string): Promise<void>
}

/** A secret as it may be shown: never with its value. */
export interface SecretDetails {
  readonly name: string
  /** Number of times that it was set. */
  readonly version: number
  readonly updatedAtMs: number
}

/** Secrets whose values this server can use. */
export interface OpenSecrets extends Secrets {
  /** The value, for one use. Throws `invalid` if there is none. */
  reveal(tenant: string, name: string): Promise<string>
  /** All, in the order of their names. */
  details(tenant: string): Promise<readonly SecretDetails[]>
  /** Sets one of at most so many characters; by default 8 192. */
  replace(tenant: string, secret: ReplacedSecret): Promise<SecretDetails>
  /** All values by their names. */
  revealAll(tenant: string): Promise<ReadonlyMap<string, string>>
  /** Names of those that were sealed with none of the keys of this server. */
  unopened(tenant: string): Promise<readonly string[]>
  /** Stores values under new names, all or none. There is no bound on their number. */
  add(tenant: string, values: ReadonlyMap<string, string>): Promise<void>
  /** The values of those of these names that exist. */
  revealSome(tenant: string, names: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Deletes the secrets for which `isNeeded` is false. */
  sweep(tenant: string, isNeeded: (name: string, createdAtMs: number) => boolean): Promise<void>
  /** Deletes all secrets of a tenant that is gone. */
  drop(tenant: string): Promise<void>
}

/** A secret that is set. */
export interface ReplacedSecret {
  readonly name: string
  readonly value: string
  readonly charactersMax?: number
  /** Version of the secret; by default the next one. A version that exists already stays. */
  readonly version?: number
}

/** Secrets of one tenant that are set one by one. */
const secretsMax = 100
/** Characters of a value. */
const valueMax = 8 * 1024
/** Tries of setting a secret that another caller sets at the same time. */
const triesMax = 20

/** The tenants that have stored secrets. No tenant has this name. */
export const secretTenants = { tenant: '*', collection: 'secret_tenant' } as const

/** The catalog of a tenant's secrets. */
export function secretsOf(tenant: string) {
  return { tenant, collection: 'secret' } as const
}

/** All records of a tenant's secrets, a page at a time. */
export async function* secretRecords(catalogs: CatalogClient,
  tenant: string): AsyncGenerator<CatalogRecord> {
  for (let after: CatalogRecord | undefined;;) {
    const { records } = await catalogs.list(secretsOf(tenant), { sortBy: 'name', descending: false,
      limit: secretsMax, offset: 0, ...after && { after } })
    yield* records
    if (records.length < secretsMax) return
    after = records.at(-1)
  }
}

/** The secrets in catalogs. Without a key none can be set or used. */
export function secretsOver(catalogs: CatalogClient, keys: SecretsKeys | undefined,
  env: Pick<Env, 'nowMs' | 'secret'>): OpenSecrets {
  return new CatalogSecrets({ catalogs, keys, env })
}

interface SecretParts {
  readonly catalogs: CatalogClient
  readonly keys: SecretsKeys | undefined
  readonly env: Pick<Env, 'nowMs' | 'secret'>
}

class CatalogSecrets implements OpenSecrets {
  readonly #parts: SecretParts

  constructor(parts: SecretParts) {
    this.#parts = parts
  }

  async list(tenant: string): Promise<readonly string[]> {
    return (await this.#records(tenant)).map(({ name }) => name)
  }

  async details(tenant: string): Promise<readonly SecretDetails[]> {
    return (await this.#records(tenant)).map(detailsOf)
  }

  async set(tenant: string, name: string, value: string): Promise<void> {
    await this.replace(tenant, { name, value })
  }

  async replace(tenant: string,
    { name, value, charactersMax = valueMax, version }: ReplacedSecret): Promise<SecretDetails> {
    requireSecret(name, value, charactersMax)
    const { catalogs, keys, env } = this.#parts
    const random = Buffer.from(env.secret(), 'base64url')
    for (let tries = 0; tries < triesMax; tries++) {
      const records = await this.#records(tenant)
      const before = records.find((each) => each.name === name)
      if (records.length >= secretsMax && before === undefined) {
        throw new HeddleError('full', `A workspace may have ${secretsMax} secrets: delete one.`)
      }
      const seal = requireKeys(keys, 'seal')[0]!
      await this.#noteTenant(tenant)
      const stored = before === undefined ? null : bodyOf(before)
      const present = stored === null ? 0 : stored.version ?? 1
      if (before !== undefined && present === version) return detailsOf(before)
      const bodyJson = JSON.stringify({ sealed: sealed(seal, { tenant, name }, value, random),
        version: version ?? present + 1, updatedAtMs: env.nowMs() })
      // A secret of an earlier program has no version: what it was is what must be there.
      const expected = { sealed: stored?.sealed ?? null }
      const record = await catalogs.create(secretsOf(tenant), { id: idOf(name), name,
        orderMs: env.nowMs(), parentId: '', metadataJson: '{}', bodyJson }, { bodyJson, expected })
        .catch(ignoreStale)
      if (record !== undefined) return detailsOf(record)
    }
    throw new HeddleError('stale', `The secret ${name} is set by others: set it again.`)
  }

  async delete(tenant: string, name: string): Promise<void> {
    await this.#parts.catalogs.delete(secretsOf(tenant), idOf(name)).catch(ignoreNotFound)
  }

  async reveal(tenant: string, name: string): Promise<string> {
    const [record] = await this.#parts.catalogs.get(secretsOf(tenant), [idOf(name)])
    if (record !== undefined) return this.#opened(tenant, record)
    throw new HeddleError('invalid', `The workspace has no secret ${name}: store it, or bring ` +
      'it along for this call.')
  }

  async revealAll(tenant: string): Promise<ReadonlyMap<string, string>> {
    const records = await this.#records(tenant)
    return new Map(records.map((record) => [record.name, this.#opened(tenant, record)]))
  }

  async unopened(tenant: string): Promise<readonly string[]> {
    const names: string[] = []
    for await (const record of secretRecords(this.#parts.catalogs, tenant)) {
      try {
        this.#opened(tenant, record)
      } catch {
        names.push(record.name)
      }
    }
    return names
  }

  async add(tenant: string, values: ReadonlyMap<string, string>): Promise<void> {
    if (values.size === 0) return
    const { catalogs, keys, env } = this.#parts
    const key = requireKeys(keys, 'seal')[0]!
    await this.#noteTenant(tenant)
    await catalogs.ensure(secretsOf(tenant),
      [...values].map(([name, value]) => ({ id: idOf(name), name, orderMs: env.nowMs(),
        parentId: '', metadataJson: '{}',
        bodyJson: JSON.stringify({ version: 1, updatedAtMs: env.nowMs(),
          sealed: sealed(key, { tenant, name }, value, Buffer.from(env.secret(), 'base64url')) }) })
      ))
  }

  async revealSome(tenant: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const records = await this.#parts.catalogs.get(secretsOf(tenant), names.map(idOf))
    return new Map(records.map((record) => [record.name, this.#opened(tenant, record)]))
  }

  async sweep(tenant: string,
    isNeeded: (name: string, createdAtMs: number) => boolean): Promise<void> {
    const { catalogs } = this.#parts
    for await (const { id, name, createdAtMs } of secretRecords(catalogs, tenant)) {
      if (isNeeded(name, createdAtMs)) continue
      await catalogs.delete(secretsOf(tenant), id).catch(ignoreNotFound)
    }
  }

  async drop(tenant: string): Promise<void> {
    await this.sweep(tenant, () => false)
    await this.#parts.catalogs.delete(secretTenants, tenantId(tenant)).catch(ignoreNotFound)
  }

  /** Notes a tenant before its first secret, so that a survey of all secrets finds it. */
  async #noteTenant(tenant: string): Promise<void> {
    await this.#parts.catalogs.ensure(secretTenants, [{ id: tenantId(tenant), name: tenant,
      orderMs: 0, parentId: '', metadataJson: '{}', bodyJson: '{}' }]).catch(ignoreFull)
  }

  #opened(tenant: string, record: CatalogRecord): string {
    const { name } = record
    return opened(requireKeys(this.#parts.keys), { tenant, name }, bodyOf(record).sealed).value
  }

  async #records(tenant: string): Promise<readonly CatalogRecord[]> {
    const { records } = await this.#parts.catalogs.list(secretsOf(tenant), { sortBy: 'name',
      descending: false, limit: secretsMax, offset: 0 })
    return records
  }
}

interface SecretBody {
  readonly sealed: string
  /** Version; missing in records of earlier programs. */
  readonly version?: number
  readonly updatedAtMs?: number
}

function bodyOf({ bodyJson }: CatalogRecord): SecretBody {
  return JSON.parse(bodyJson) as SecretBody
}

function detailsOf(record: CatalogRecord): SecretDetails {
  const { version = 1, updatedAtMs = record.modifiedAtMs } = bodyOf(record)
  return { name: record.name, version, updatedAtMs }
}

/** True for a name that a secret may have, like a variable of an environment. */
export function isSecretName(name: string): boolean {
  return /^[A-Za-z_]\w{0,127}$/.test(name)
}

function requireSecret(name: string, value: string, charactersMax: number): void {
  if (!isSecretName(name)) {
    throw new HeddleError('invalid', 'key: it is a name such as OPENAI_API_KEY.')
  }
  if (value === '' || value.length > charactersMax) {
    throw new HeddleError('invalid', `value: it has 1 to ${charactersMax} characters.`)
  }
}

function requireKeys(keys: SecretsKeys | undefined, use?: 'seal'): readonly Uint8Array[] {
  if (keys !== undefined) return keys(use)
  throw new HeddleError('invalid',
    'This server keeps no secrets: it needs `--secrets-key`, a file ' +
      'of 32 random bytes.')
}

function idOf(name: string): string {
  return namedId('secret', name)
}

function tenantId(tenant: string): string {
  return namedId('secret', `tenant\n${tenant}`)
}

/** Ignores a full list of tenants: those with API keys are found by their keys as well. */
function ignoreFull(error: unknown): void {
  if (HeddleError.from(error).code !== 'full') throw error
}
