/** API keys in memory, for tests of access. They can be made unreachable. */

import type { KeyRow, KeyTable } from '../../src/access/index.ts'
import { HeddleError } from '../../src/errors.ts'

/** The twin of the key table. */
export class MemoryKeys implements KeyTable {
  readonly rows = new Map<string, KeyRow>()
  /** Ids that were looked up. */
  readonly looks: string[] = []
  readonly touched: string[] = []
  isReachable = true
  /** Lookups are answered when this resolves. */
  held: Promise<void> = Promise.resolve()

  async insert(row: KeyRow): Promise<void> {
    this.rows.set(row.id, row)
  }

  async get(id: string): Promise<KeyRow | undefined> {
    this.looks.push(id)
    const row = this.rows.get(id)
    await this.held
    if (!this.isReachable) throw new HeddleError('unavailable', 'The store is out of reach.')
    return row
  }

  async list(tenant?: string): Promise<KeyRow[]> {
    return [...this.rows.values()].filter((row) => tenant === undefined || row.tenant === tenant)
  }

  async revoke(id: string, atMs: number): Promise<KeyRow | undefined> {
    const row = this.rows.get(id)
    if (row !== undefined) this.rows.set(id, { ...row, revokedAtMs: row.revokedAtMs ?? atMs })
    return this.rows.get(id)
  }

  async touch(id: string): Promise<void> {
    this.touched.push(id)
  }
}
