/**
 * The durable log of one actor, as the store offers it: append, read back, branch, purge.
 *
 * Rule: [open_row].
 */

import type { AssistantRow, Branch, CheckpointPlace, CronRow, ItemRow, RunRow,
  ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { BillingRow } from '../billing/index.ts'

/**
 * One row to append. `body` is an encoded storage.v1.LogRow. It belongs to the store from then on,
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
  /** The checkpoints of this row that `findCheckpoint` must find. Later places win. */
  readonly places: readonly CheckpointPlace[]
  /** True if nothing was ever stored under the id of its thread: nothing is left to remove. */
  readonly isNewId?: boolean
}

/**
 * A mutable row that changes with the log rows beside it. It changes in one transaction with them
 * or, if the log is shared, after all that are before it. So such rows may lag behind the log and
 * never lead. If the log is shared, the row of a new thread may come before those of its unfinished
 * runs.
 */
export type RowUpdate =
  | { readonly table: 'thread'; readonly row: ThreadRow }
  /** `body` is the row encoded, if that was done already. */
  | { readonly table: 'run'; readonly row: RunRow; readonly body?: Uint8Array }
  | { readonly table: 'assistant'; readonly row: AssistantRow }
  | { readonly table: 'cron'; readonly row: CronRow }
  | { readonly table: 'item'; readonly row: ItemRow }
  | { readonly table: 'item_removed'; readonly tenant: string; readonly id: string;
    readonly epoch: number }
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

/** Rows to read. `from` and `through` are inclusive. */
export interface LogRange {
  readonly from: number
  readonly through: number
  /** Newest first. */
  readonly reverse?: boolean
  /** Rows to read at most. */
  readonly limit?: number
  /**
   * Bytes of all bodies. The rows end before the one that would exceed it, unless it is the first.
   */
  readonly bytes?: number
  /**
   * Bytes of the largest body that is read. A first row with a larger one is refused with
   * `too_large`, its size as `bytes` in the details. A later such row ends the rows.
   */
  readonly bodyBytes?: number
}

/**
 * The log of a store. Implemented by store/embedded and store/cassandra.
 *
 * Callers may rely on this: Appends of one branch become durable in the order of the calls. All of
 * one call becomes durable or none of it. An append is refused with `stale_append` and changes
 * nothing if its epoch is older than the branch's newest, or its seq does not follow the newest
 * row. Callers must not rely on any order between branches.
 */
export interface LogPort {
  /**
   * True if other processes write to the log as well. A new owner then appends a row that opens its
   * epoch before it answers anything, and brings rows up to date that lag behind the log.
   */
  readonly shared: boolean

  /**
   * An id for a new branch. The log that made it knows that the branch has no rows, and need not
   * look for them.
   */
  newBranchId(): string

  /**
   * Call as the new owner of the branch. It finds where the branch ends, so that later reads and
   * appends need not. Throws `stale_append` if a newer owner wrote. Throws it with `dead` among its
   * details if the branch's subject is being purged.
   */
  open(branch: Branch, epoch: number): Promise<void>

  /**
   * Resolves when every row and update is on disk. `logged` may be called earlier, when the rows
   * are on disk. The updates then follow, if need be by the next owner.
   */
  append(rows: readonly NewRow[], updates: readonly RowUpdate[], logged?: () => void): Promise<void>

  /** The newest row of the branch, its ancestors included; undefined for an empty log. */
  tail(branch: Branch): Promise<{ readonly epoch: number; readonly seq: number } | undefined>

  /** Rows in the order asked for, those of ancestors included. */
  read(branch: Branch, range: LogRange): Promise<LogEntry[]>

  /**
   * The place of a checkpoint; undefined if the branch, ancestors included, does not have it. A
   * place need not be found if only rows up to `statedAfter` name it.
   */
  findCheckpoint(branch: Branch, checkpointId: string,
    statedAfter?: number): Promise<CheckpointPlace | undefined>

  /**
   * Removes what is stored of a deleted thread, assistant or cron: its row and its run rows at
   * once, its log as far as no other branch grew from it. Repeating it changes nothing. Making the
   * subject again waits for this. Of a branch that no row speaks for, the log alone is removed.
   */
  purge(subject: PurgeSubject | BranchSubject): Promise<void>
}

/** A branch that no row speaks for. */
export interface BranchSubject extends Pick<PurgeSubject, 'branch' | 'epoch'> {
  readonly table: 'branch'
}

/** Thread, assistant or cron whose rows a purge removes. */
export interface PurgeSubject {
  readonly table: 'thread' | 'assistant' | 'cron'
  readonly tenant: string
  readonly id: string
  readonly branch: Branch
  /** Epoch of the owner that purges. */
  readonly epoch: number
}
