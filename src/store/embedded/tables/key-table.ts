/** Rows of API keys, by id. */

import { readStoredTenant, storedTenant } from '../../../access/index.ts'
import type { CallerRole, KeyRow } from '../../../access/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Database, Statement } from '../file/database.ts'

/** Table of API keys. Times are milliseconds. `tenant` is what `storedTenant` makes. */
export const keySchema = `
  CREATE TABLE IF NOT EXISTS api_key (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    used_at INTEGER,
    revoked_at INTEGER
  );
`

type Columns = readonly [id: string, tenant: string, role: string, name: string, hash: string,
  createdAt: number, expiresAt: number | null, usedAt: number | null, revokedAt: number | null]

/** Change of a key, for the writer thread. */
export type KeyChange =
  | { readonly what: 'insert'; readonly row: KeyRow }
  | { readonly what: 'revoke'; readonly id: string; readonly atMs: number }
  | { readonly what: 'touch'; readonly id: string; readonly atMs: number }

/** Stores and finds API keys. Belongs to `Tables`. */
export class KeyTable {
  readonly #insert: Statement<never>
  readonly #revoke: Statement<never>
  readonly #touch: Statement<never>
  readonly #get: Statement<Columns>
  readonly #list: Statement<Columns>

  constructor(database: Database) {
    const columns = 'SELECT id, tenant, role, name, hash, created_at, expires_at, used_at, ' +
      'revoked_at FROM api_key'
    this.#insert = database.prepare('INSERT INTO api_key VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    this.#revoke = database.prepare(
      'UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?',
    )
    this.#touch = database.prepare(
      'UPDATE api_key SET used_at = max(coalesce(used_at, 0), ?) WHERE id = ?',
    )
    this.#get = database.prepare(`${columns} WHERE id = ?`)
    this.#list = database.prepare(`${columns} WHERE :tenant IS NULL OR tenant = :tenant ` +
      "OR substr(tenant, 1, length(:tenant) + 1) = :tenant || '@' ORDER BY created_at DESC, id")
  }

  /** Makes a change. Throws `exists` if the id of a new key is taken. */
  apply(change: KeyChange): void {
    switch (change.what) {
      case 'insert':
        return this.#add(change.row)
      case 'revoke':
        return void this.#revoke.run(change.atMs, change.id)
      case 'touch':
        return void this.#touch.run(change.atMs, change.id)
    }
  }

  get(id: string): KeyRow | undefined {
    const row = this.#get.get(id)
    return row && rowOf(row)
  }

  list(tenant?: string): KeyRow[] {
    return this.#list.all({ tenant: tenant ?? null }).map(rowOf)
  }

  #add(row: KeyRow) {
    const { id, role, name, hash, createdAtMs, expiresAtMs, usedAtMs, revokedAtMs } = row
    if (this.get(id)) throw new HeddleError('exists', 'A key with this id exists already.')
    this.#insert.run(id, storedTenant(row), role, name, hash, createdAtMs, expiresAtMs, usedAtMs,
      revokedAtMs)
  }
}

function rowOf(columns: Columns): KeyRow {
  const [id, tenant, role, name, hash, createdAtMs, expiresAtMs, usedAtMs, revokedAtMs] = columns
  return { id, ...readStoredTenant(tenant), role: role as CallerRole, name, hash, createdAtMs,
    expiresAtMs, usedAtMs, revokedAtMs }
}
