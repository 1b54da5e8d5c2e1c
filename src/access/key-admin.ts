/** Creating, listing and revoking keys, for operators. */

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { KeyTable } from './key-table.ts'
import { isTenant, makeKey } from './key.ts'
import type { KeyRow, NewKey } from './key.ts'

/** What may be shown of a key. */
export type KeyFacts = Omit<KeyRow, 'hash'>

export interface KeyWish extends Omit<NewKey, 'region' | 'expiresAtMs'> {
  /** Null for a key that never expires. */
  readonly expiresInMs: number | null
}

/** Throws HeddleError with a sentence for the operator. */
export interface KeyDesk {
  /** `key` is its text, returned here and never again. */
  create(wish: KeyWish): Promise<KeyFacts & { readonly key: string }>
  /** Newest first; without a tenant, those of all tenants. */
  list(tenant?: string): Promise<KeyFacts[]>
  revoke(id: string): Promise<KeyFacts>
}

export interface KeyDeskParts {
  readonly table: KeyTable
  readonly region: string
  readonly env: Env
}

const nameLength = 100

export function keyDesk({ table, region, env }: KeyDeskParts): KeyDesk {
  return {
    create: async ({ expiresInMs, ...wish }) => {
      if (!isTenant(wish.tenant)) {
        throw new HeddleError('invalid', 'The name of a tenant has up to 64 letters, digits, ' +
          'dots, dashes and underscores, and begins with a letter or a digit.')
      }
      if (wish.name.length > nameLength) {
        throw new HeddleError('invalid', `The name of a key has up to ${nameLength} characters.`)
      }
      const expiresAtMs = expiresInMs === null ? null : env.nowMs() + expiresInMs
      const { text, row } = makeKey({ ...wish, region, expiresAtMs }, env)
      await table.insert(row)
      return { key: text, ...factsOf(row) }
    },
    list: async (tenant) => (await table.list(tenant)).map(factsOf),
    revoke: async (id) => {
      const row = await table.revoke(id, env.nowMs())
      if (row !== undefined) return factsOf(row)
      throw new HeddleError('not_found', `There is no key ${id}; "keys list" tells the ids.`)
    },
  }
}

function factsOf({ hash: _, ...facts }: KeyRow): KeyFacts {
  return facts
}
