/** The port of stored API keys: found by id, listed for operators. */

import type { KeyRow } from './key.ts'

/**
 * Stores keys. What has resolved is on disk. Throws `unavailable` if the store cannot be reached.
 */
export interface KeyTable {
  /** Throws `exists` if the id is taken. */
  insert(row: KeyRow): Promise<void>
  /** The newest row of a key; undefined if there is none. */
  get(id: string): Promise<KeyRow | undefined>
  /** Newest first; without a tenant, all. Reads every row, so it is for operators only. */
  list(tenant?: string): Promise<KeyRow[]>
  /**
   * The row after the revocation; undefined if there is no such key. A second one changes nothing.
   */
  revoke(id: string, atMs: number): Promise<KeyRow | undefined>
  /** Notes that the key was used. Stores nothing for a key that does not exist. */
  touch(id: string, atMs: number): Promise<void>
}
