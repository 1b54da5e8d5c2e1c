/** Commit of rows to history: the common ground of the two modes of writing the log. */

import type { BranchEnd } from './log-reader.ts'
import type { OutgoingRow } from './log-row.ts'

/** The end of a branch that an epoch takes over, or continues from in a new bucket. */
export interface Handover {
  readonly branchId: string
  readonly epoch: number
  /** Seq of the newest row. */
  readonly seq: number
  readonly bucket: number
}

/** A way to make rows history. There is one implementation for each `CommitMode`. */
export interface Commit {
  /** Rows of a branch that may be in flight at the same time. */
  readonly inFlight: number

  /**
   * Call before the first row of an epoch, on a branch that has rows. False if the branch has moved
   * on since its end was read: read it again.
   */
  open(branchId: string, end: BranchEnd, epoch: number): Promise<boolean>

  /** Call before the first row in a new bucket, when no row is in flight. */
  rollOver(handover: Handover): Promise<void>

  /**
   * Resolves when the row is on a quorum. Throws HeddleError: the row was not written, unless the
   * details say `ambiguous`. May be called again for the same row.
   */
  write(row: OutgoingRow): Promise<void>
}

/** Pause before the next try, and the sign that there is none. */
export interface Patience {
  pause(): Promise<void>
  /** True when the store closes. What is not known by then is given up. */
  readonly ended: boolean
}
