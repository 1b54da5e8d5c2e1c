/** Durability of a write: with the commit of the database, or before it. */

import type { WireBatch } from '../requests/wire-batch.ts'
import type { Write } from '../requests/write.ts'

/** The writes of one turn of the main thread, by their ids. */
export interface WriteBatch {
  readonly ids: readonly number[]
  readonly writes: readonly Write[]
  /** The same, as it is sent to the writer thread. */
  readonly packed: WireBatch
}

/** Outcome of the commit of a batch. */
export interface Committed {
  /** Number of the batch, through all generations of the store; 0 if batches are not numbered. */
  readonly number: number
  /** True if the writes are on disk: their callers are answered, and the writer must do them. */
  readonly acknowledged: boolean
}

/**
 * Decides when a write is durable. Belongs to the main thread. Every batch goes to the writer
 * thread, whatever is returned here.
 */
export interface DurableQueue {
  /** Throws HeddleError if the files of the store were removed or replaced. */
  commit(batch: WriteBatch): Committed
  /** Takes the writer thread's answer to a write. True if the write was acknowledged before. */
  answered(id: number, isDone: boolean): boolean
  /** The id was just made: no other branch has it. */
  expectBranch(id: string): void
  /** True if the rows of a thread may be newer than those that are in the database. */
  isAheadOn(tenant: string, threadId: string): boolean
  /** True if an acknowledged write up to this id is not in the database. */
  isAheadSince(lastId: number): boolean
  /** Acknowledges nothing more. May be called again. */
  close(): void
}

/** Durable is what the database has committed. */
export class CommitQueue implements DurableQueue {
  commit(): Committed {
    return { number: 0, acknowledged: false }
  }

  answered(): boolean {
    return false
  }

  expectBranch(): void {}

  isAheadOn(): boolean {
    return false
  }

  isAheadSince(): boolean {
    return false
  }

  close(): void {}
}
