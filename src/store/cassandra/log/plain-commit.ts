/**
 * Commit by plain writes: a row is history if it is on a quorum and its owner still is the owner.
 *
 * Rules: [places_again] [roll_over].
 */

import type { OwnershipCheck } from '../../../../cluster/index.ts'
import type { Connection } from '../driver/connection.ts'
import type { CheckpointTable } from './checkpoint-table.ts'
import type { Commit } from './commit.ts'
import type { BranchEnd } from './log-reader.ts'
import { RowInsert } from './log-row.ts'
import type { OutgoingRow } from './log-row.ts'
import type { WriteTimestamp } from './write-timestamp.ts'

/**
 * Writes a row in one mutation. The caller confirms ownership before it acknowledges. Rows of a
 * deposed owner may be stored but never become history, because the chain skips them.
 */
export class PlainCommit implements Commit {
  readonly inFlight = 64
  readonly #connection: Connection
  readonly #checkpoints: CheckpointTable
  readonly #timestamp: WriteTimestamp
  readonly #check: Pick<OwnershipCheck, 'confirm'>
  readonly #insert: RowInsert

  constructor(
    { connection, checkpoints, rank, check }: { readonly connection: Connection;
      readonly checkpoints: CheckpointTable; readonly rank: WriteTimestamp;
      readonly check: Pick<OwnershipCheck, 'confirm'> },
  ) {
    this.#connection = connection
    this.#checkpoints = checkpoints
    this.#timestamp = rank
    this.#check = check
    this.#insert = new RowInsert(`${connection.keyspace}.log`)
  }

  /**
   * Writes places again that the last rows may have carried, from the rows that state them. Read
   * repair put the last rows on a quorum, but not these places: a single replica may have the only
   * copy.
   */
  async open(branchId: string, { tail: { bucket }, places: { unconfirmed } }: BranchEnd,
    epoch: number): Promise<boolean> {
    await Promise.all(unconfirmed.map((row) =>
      this.#connection.batch(
        this.#checkpoints.statements({ branchId, bucket }, [row], this.#timestamp.next(epoch)),
      )
    ))
    return true
  }

  /**
   * Confirms ownership, which acknowledges what is in the old bucket. A deposed owner must never
   * get two buckets ahead of what was acknowledged, because its successor looks no further.
   */
  async rollOver(): Promise<void> {
    await this.#check.confirm()
  }

  async write(row: OutgoingRow): Promise<void> {
    const insert = this.#insert.plain(row)
    if (row.carried.length === 0) return this.#connection.write(insert)
    const places = this.#checkpoints.statements(row, row.carried, row.timestamp)
    return this.#connection.batch([insert, ...places])
  }
}
