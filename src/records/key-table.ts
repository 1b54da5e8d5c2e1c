/** The keys of a region as rows: found by id with each new caller, listed for people. */

import type { KeyRow } from './key.ts'

/** Everything it resolves is on disk. Throws `unavailable` where the store is out of reach. */
export interface KeyTable {
  /** Throws `exists` where the id is taken. */
  insert(row: KeyRow): Promise<void>
  get(id: string): Promise<KeyRow | undefined>
  /** Newest first; without a tenant those of all. It reads every row: only people ask for it. */
  list(tenant?: string): Promise<KeyRow[]>
  /** The row as it is then: revoked since the first time. Undefined where there is none. */
  revoke(id: string, atMs: number): Promise<KeyRow | undefined>
  /** It was used. Of a key that is not there nothing is kept. */
  touch(id: string, atMs: number): Promise<void>
}
