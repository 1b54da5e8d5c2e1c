/** Secrets of workspaces, such as keys of models: listed by name only, and stored sealed. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
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

/** Secrets whose values this server can use. */
export interface OpenSecrets extends Secrets {
  /** The value, for one use. Throws `invalid` if there is none. */
  reveal(tenant: string, name: string): Promise<string>
}

/** Secrets of one tenant. */
export const secretsMax = 100
/** Characters of a value. */
const valueMax = 8 * 1024

/** The tenants that have stored secrets. No tenant has this name. */
export const secretTenants = { tenant: '*', collection: 'secret_tenant' } as const

/** The catalog of a tenant's secrets. */
export function secretsOf(tenant: string) {
  return { tenant, collection: 'secret' } as const
}

/** The secrets in catalogs. Without a key none can be set or used. */
export function secretsOver(catalogs: CatalogClient, keys: SecretsKeys | undefined,
  env: Pick<Env, 'nowMs' | 'secret'>): OpenSecrets {
  const list = async (tenant: string) => {
    const { records } = await catalogs.list(secretsOf(tenant), { sortBy: 'name', descending: false,
      limit: secretsMax, offset: 0 })
    return records.map(({ name }) => name)
  }
  return {
    list,
    set: async (tenant, name, value) => {
      requireSecret(name, value)
      const names = await list(tenant)
      if (names.length >= secretsMax && !names.includes(name)) {
        throw new HeddleError('full', `A workspace may have ${secretsMax} secrets: delete one.`)
      }
      const random = Buffer.from(env.secret(), 'base64url')
      const seal = requireKeys(keys)[0]!
      // Before the secret: whoever looks for all secrets finds its tenant.
      await catalogs.ensure(secretTenants, [{ id: namedId('secret', `tenant\n${tenant}`),
        name: tenant, orderMs: 0, parentId: '', metadataJson: '{}', bodyJson: '{}' }])
        .catch(ignoreFull)
      const bodyJson = JSON.stringify({
        sealed: sealed(seal, { tenant, name }, value, random),
      })
      await catalogs.create(secretsOf(tenant), { id: idOf(name), name, orderMs: env.nowMs(),
        parentId: '', metadataJson: '{}', bodyJson }, { bodyJson })
    },
    delete: async (tenant, name) => {
      await catalogs.delete(secretsOf(tenant), idOf(name)).catch(ignoreNotFound)
    },
    reveal: async (tenant, name) => {
      const [record] = await catalogs.get(secretsOf(tenant), [idOf(name)])
      if (record === undefined) {
        throw new HeddleError('invalid',
          `The workspace has no secret ${name}: set it, or send it ` +
            'with the call.')
      }
      const { sealed: box } = JSON.parse(record.bodyJson) as { readonly sealed: string }
      return opened(requireKeys(keys), { tenant, name }, box).value
    },
  }
}

/** True for what a secret may be called: like a variable of an environment. */
export function isSecretName(name: string): boolean {
  return /^[A-Za-z_]\w{0,127}$/.test(name)
}

function requireSecret(name: string, value: string): void {
  if (!isSecretName(name)) {
    throw new HeddleError('invalid', 'key: it is a name such as OPENAI_API_KEY.')
  }
  if (value === '' || value.length > valueMax) {
    throw new HeddleError('invalid', `value: it has 1 to ${valueMax} characters.`)
  }
}

function requireKeys(keys: SecretsKeys | undefined): readonly Uint8Array[] {
  if (keys !== undefined) return keys()
  throw new HeddleError('invalid',
    'This server keeps no secrets: it needs `--secrets-key`, a file ' +
      'of 32 random bytes.')
}

function idOf(name: string): string {
  return namedId('secret', name)
}

/** Tenants that have API keys are found by these as well. */
function ignoreFull(error: unknown): void {
  if (HeddleError.from(error).code !== 'full') throw error
}
