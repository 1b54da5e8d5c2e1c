/** API keys: one partition each in the control keyspace. */

import { readStoredTenant, storedTenant } from '../../../access/index.ts'
import type { CallerRole, KeyRow, KeyTable as KeyTablePort } from '../../../access/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Connection, Row, Value } from '../driver/connection.ts'
import { insertInto } from '../driver/insert.ts'

const columns = ['key_id', 'tenant', 'role', 'name', 'hash', 'created_at', 'expires_at', 'used_at',
  'revoked_at'] as const

/** Keys that are read at a time when all are listed. */
const listPage = 1_000

/** Stores and finds API keys, for all members. */
export class KeyTable implements KeyTablePort {
  readonly #connection: Connection
  readonly #table: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#table = `${connection.control}.api_key`
  }

  async insert(row: KeyRow): Promise<void> {
    const values: Value[] = [row.id, storedTenant(row), row.role, row.name, row.hash,
      ...[row.createdAtMs, row.expiresAtMs, row.usedAtMs, row.revokedAtMs]
        .map((ms) => ms === null ? null : BigInt(ms))]
    await this.#connection.swapSurely({
      cql: `${insertInto(this.#table, columns)} IF NOT EXISTS`,
      values,
    })
    // The insert may have been sent twice, and the first one may have been applied.
    if ((await this.get(row.id))?.hash === row.hash) return
    throw new HeddleError('exists', 'A key with this id exists already.')
  }

  async get(id: string): Promise<KeyRow | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT ${columns.join(', ')} FROM ${this.#table} WHERE key_id = ?`,
      values: [id],
    })
    return row && rowOf(row)
  }

  async list(tenant?: string): Promise<KeyRow[]> {
    const all: KeyRow[] = []
    const cql = `SELECT ${columns.join(', ')} FROM ${this.#table}`
    for await (const page of this.#connection.pages({ cql, values: [] }, listPage)) {
      all.push(...page.map(rowOf).filter((row) => tenant === undefined || row.tenant === tenant))
    }
    return all.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : 1))
  }

  async revoke(id: string, atMs: number): Promise<KeyRow | undefined> {
    await this.#connection.swapSurely({
      cql: `UPDATE ${this.#table} SET revoked_at = ? WHERE key_id = ? ` +
        'IF created_at > 0 AND revoked_at = null',
      values: [BigInt(atMs), id],
    })
    return this.get(id)
  }

  /** Notes the last use. Rows are never removed, so the update cannot create one. */
  async touch(id: string, atMs: number): Promise<void> {
    const row = await this.get(id)
    if (row === undefined || (row.usedAtMs ?? 0) >= atMs) return
    await this.#connection.write({
      cql: `UPDATE ${this.#table} SET used_at = ? WHERE key_id = ?`,
      values: [BigInt(atMs), id],
    })
  }
}

function rowOf(row: Row): KeyRow {
  const timeIn = (column: 'expires_at' | 'used_at' | 'revoked_at') =>
    row[column] === null ? null : Number(row[column])
  return {
    id: row['key_id'],
    ...readStoredTenant(row['tenant']),
    role: row['role'] as CallerRole,
    name: row['name'],
    hash: row['hash'],
    createdAtMs: Number(row['created_at']),
    expiresAtMs: timeIn('expires_at'),
    usedAtMs: timeIn('used_at'),
    revokedAtMs: timeIn('revoked_at'),
  }
}
