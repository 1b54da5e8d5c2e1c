/** Creating, listing and revoking keys, for operators. */

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { KeyTable } from './key-table.ts'
import { isTenant, makeKey } from './key.ts'
import type { KeyRow, NewKey } from './key.ts'

/** Fields of a key that may be shown. */
export type KeyDetails = Omit<KeyRow, 'hash'>

/** Fields that an operator sets of a new key. */
export interface KeyRequest extends Omit<NewKey, 'region' | 'expiresAtMs'> {
  /** Null for a key that never expires. */
  readonly expiresInMs: number | null
}

/** Manages keys. Every method throws HeddleError with a message for the operator. */
export interface KeyAdmin {
  /** `key` is its text, which is returned here and never again. */
  create(options: KeyRequest): Promise<KeyDetails & { readonly key: string }>
  /** Newest first; without a tenant, those of all tenants. */
  list(tenant?: string): Promise<KeyDetails[]>
  /** Revokes a key for ever. Throws `not_found`. */
  revoke(id: string): Promise<KeyDetails>
}

/** The table of keys, and the region that new keys carry in their text. */
export interface KeyAdminParts {
  readonly table: KeyTable
  readonly region: string
  readonly env: Env
}

const nameLength = 100
const deploymentForm = /^[a-z0-9-]{1,63}$/

/** Manages the keys of a store. New ones carry its region in their text. */
export function keyAdmin({ table, region, env }: KeyAdminParts): KeyAdmin {
  return {
    create: async ({ expiresInMs, ...options }) => {
      if (!isTenant(options.tenant)) {
        throw new HeddleError('invalid', 'The name of a tenant has up to 64 letters, digits, ' +
          'dots, dashes and underscores, and begins with a letter or a digit.')
      }
      if (options.name.length > nameLength) {
        throw new HeddleError('invalid', `The name of a key has up to ${nameLength} characters.`)
      }
      if (options.deployment != null && !deploymentForm.test(options.deployment)) {
        throw new HeddleError('invalid', 'The name of a deployment has small letters, digits and ' +
          'dashes, up to 63.')
      }
      const expiresAtMs = expiresInMs === null ? null : env.nowMs() + expiresInMs
      const { text, row } = makeKey({ ...options, region, expiresAtMs }, env)
      await table.insert(row)
      return { key: text, ...detailsOf(row) }
    },
    list: async (tenant) => (await table.list(tenant)).map(detailsOf),
    revoke: async (id) => {
      const row = await table.revoke(id, env.nowMs())
      if (row !== undefined) return detailsOf(row)
      throw new HeddleError('not_found', `There is no key ${id}; "keys list" lists the ids.`)
    },
  }
}

function detailsOf({ hash: _, ...details }: KeyRow): KeyDetails {
  return details
}
