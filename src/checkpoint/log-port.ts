/**
 * The durable log of one actor, as the store offers it: append, read back, branch, purge.
 * Rule: [open_row].
 */

import type { AssistantRow, Branch, CheckpointPlace, RunRow,
  ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { BillingRow } from '../billing/index.ts'

/**
 * One row to append. `body` is an encoded storage.v1.LogRow: it belongs to the store from then on,
 * which may hand its buffer to another thread.
 */
export interface NewRow {
  readonly tenant: string
  readonly branch: Branch
  readonly epoch: number
  /** Rows of a branch are numbered from 1 without gaps, on from the end of its last ancestor. */
  readonly seq: number
  /** Epoch of the row before this one; 0 if there is none. */
  readonly prevEpoch: number
  readonly body: Uint8Array
  /** The checkpoints of this row that `findCheckpoint` must find; later places win. */
  readonly places: readonly CheckpointPlace[]
}

/**
 * A mutable row that changes with the log rows beside it: in one transaction or, if the log is
 * shared, each after those before it, so that rows may lag behind the log and never lead.
 */
export type RowUpdate =
  | { readonly table: 'thread'; readonly row: ThreadRow }
  /** `body`: the row encoded, if that was done already. */
  | { readonly table: 'run'; readonly row: RunRow; readonly body?: Uint8Array }
  | { readonly table: 'assistant'; readonly row: AssistantRow }
  /** Stays when everything else of its thread is purged. */
  | { readonly table: 'billing'; readonly row: BillingRow }
  | { readonly table: 'run_removed'; readonly tenant: string; readonly threadId: string;
    readonly runId: string }

/** A row as it is in the log. */
export interface LogEntry {
  readonly epoch: number
  readonly seq: number
  readonly body: Uint8Array
}

/** Which rows to read: `from` and `through` are inclusive. */
export interface LogRange {
  readonly from: number
  readonly through: number
  /** Newest first. */
  readonly reverse?: boolean
  /** At most this many rows. */
  readonly limit?: number
  /** Ends before the row with which the bodies would have more bytes, if it is not the first. */
  readonly bytes?: number
  /**
   * The largest body that is read: a first row with a larger one is refused with `too_large`, the
   * size as the fact `bytes`, and a later one ends the rows.
   */
  readonly bodyBytes?: number
}

/**
 * Two implementations: store/embedded and store/cassandra.
 *
 * The caller may rely on: appends of one branch become durable in the order of the calls; all of
 * one call becomes durable or none of it; an append with an epoch older than the branch's newest,
 * or whose seq does not follow the newest row, is refused with `stale_append` and changes nothing.
 * It may not rely on any order between branches.
 */
export interface LogPort {
  /**
   * Other processes write to it as well: before a new owner answers anything it appends a row that
   * opens its epoch, and brings rows up to date that lag behind the log.
   */
  readonly shared: boolean

  /**
   * An id for a new branch. The log that made it knows that the branch has no rows, and need not
   * look for them.
   */
  newBranchId(): string

  /**
   * Called by the new owner of the branch: finds where it ends, so that later reads and appends
   * need not. Throws `stale_append` if a newer owner wrote or, with `dead` among its details, if
   * the branch's subject is being purged.
   */
  open(branch: Branch, epoch: number): Promise<void>

  /**
   * Resolves when every row and update is on disk. `logged` may be called earlier, when the rows
   * are: the updates then follow, if need be by the next owner.
   */
  append(rows: readonly NewRow[], updates: readonly RowUpdate[], logged?: () => void): Promise<void>

  /** The newest row of the branch, its ancestors included; undefined for an empty log. */
  tail(branch: Branch): Promise<{ readonly epoch: number; readonly seq: number } | undefined>

  /** Rows in the order asked for, those of ancestors included. */
  read(branch: Branch, range: LogRange): Promise<LogEntry[]>

  /** Where the checkpoint is; undefined if the branch, ancestors included, does not have it. */
  findCheckpoint(branch: Branch, checkpointId: string): Promise<CheckpointPlace | undefined>

  /**
   * Removes what is stored of a deleted thread or assistant: its row and its run rows at once, its
   * log as far as no other branch grew from it. Idempotent. Making it again waits for this.
   */
  purge(subject: PurgeSubject): Promise<void>
}

export interface PurgeSubject {
  readonly table: 'thread' | 'assistant'
  readonly tenant: string
  readonly id: string
  readonly branch: Branch
  /** Of the owner that purges. */
  readonly epoch: number
}
