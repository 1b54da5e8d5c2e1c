/** Places of checkpoints: maps an id to the row that holds the checkpoint. */

import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import type { Database, Statement } from '../file/database.ts'
import { idKey, idKeyBytes } from '../file/id-key.ts'

/**
 * Table of places. The id comes first in the key: ids grow with time, so new places of all branches
 * fall into the same few pages. Each row that states a checkpoint has a place of its own, because a
 * branch that grew from an earlier row must not see a later statement.
 */
export const checkpointSchema = `
  CREATE TABLE checkpoint_place (
    key BLOB NOT NULL,
    branch INTEGER NOT NULL,
    stated_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    base INTEGER NOT NULL,
    PRIMARY KEY (key, branch, stated_at)
  ) WITHOUT ROWID;
`

/** Names a row of the log. */
export interface RowPlace {
  readonly branch: number
  readonly seq: number
}

/** Finds checkpoints by id. Belongs to `LogTable`. */
export class CheckpointTable {
  readonly #put: Statement<never>
  readonly #find: Statement<readonly [seq: number, base: number]>
  readonly #delete: Statement<never>

  constructor(database: Database) {
    this.#put = database.prepare('INSERT OR REPLACE INTO checkpoint_place VALUES (?, ?, ?, ?, ?)')
    this.#find = database.prepare(`SELECT seq, base FROM checkpoint_place
      WHERE key = ? AND branch = ? AND stated_at <= ? ORDER BY stated_at DESC LIMIT 1`)
    this.#delete = database.prepare(
      'DELETE FROM checkpoint_place WHERE key = ? AND branch = ? AND stated_at = ?',
    )
  }

  /**
   * Stores the places that a row states. Returns their keys for `remove`; null if there are none.
   */
  put(row: RowPlace, places: readonly CheckpointPlace[]): Uint8Array | null {
    if (places.length === 0) return null
    const keys = new Uint8Array(places.length * idKeyBytes)
    places.forEach(({ id, seq, base }, index) => {
      const key = idKey(id)
      keys.set(key, index * idKeyBytes)
      this.#put.run(key, row.branch, row.seq, seq, base)
    })
    return keys
  }

  /** The place as it was when row `through` was the newest one of the branch. */
  find(branch: number, id: string, through: number): CheckpointPlace | undefined {
    const row = this.#find.get(idKey(id), branch, through)
    return row && { id, seq: row[0], base: row[1] }
  }

  remove(row: RowPlace, keys: Uint8Array): void {
    for (let at = 0; at < keys.length; at += idKeyBytes) {
      this.#delete.run(keys.subarray(at, at + idKeyBytes), row.branch, row.seq)
    }
  }
}
