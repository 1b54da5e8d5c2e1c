/** The port of stored API keys: found by id, listed for operators. */

import type { KeyRow } from './key.ts'

/** What has resolved is on disk. Throws `unavailable` if the store cannot be reached. */
export interface KeyTable {
  /** Throws `exists` if the id is taken. */
  insert(row: KeyRow): Promise<void>
  get(id: string): Promise<KeyRow | undefined>
  /** Newest first; without a tenant, all. It reads every row: only for operators. */
  list(tenant?: string): Promise<KeyRow[]>
  /** The row after it; a second revocation changes nothing. Undefined if there is no such key. */
  revoke(id: string, atMs: number): Promise<KeyRow | undefined>
  /** Notes that it was used. Stores nothing for a key that does not exist. */
  touch(id: string, atMs: number): Promise<void>
}
