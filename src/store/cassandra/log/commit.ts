/** How rows become history: what the two modes of writing the log have in common. */

import type { BranchEnd } from './log-reader.ts'
import type { OutgoingRow } from './log-row.ts'

/** Ends of a branch that an epoch takes over, or continues from in a new bucket. */
export interface Handover {
  readonly branchId: string
  readonly epoch: number
  /** The newest row, and the bucket that the next one goes to. */
  readonly seq: number
  readonly bucket: number
}

export interface Commit {
  /** Rows of a branch that may be on their way at the same time. */
  readonly inFlight: number

  /**
   * Before the first row of an epoch on a branch that has rows. False if the branch has moved
   * on since its end was read: read it again.
   */
  open(branchId: string, end: BranchEnd, epoch: number): Promise<boolean>

  /** Before the first row in a new bucket; no row is on its way. */
  rollOver(handover: Handover): Promise<void>

  /**
   * Resolves when the row is on a quorum. Throws HeddleError: nothing of it was written, unless
   * its details say `ambiguous`. May be asked again for the same row.
   */
  write(row: OutgoingRow): Promise<void>
}

/** How long those who try again wait, and whether they still should. */
export interface Patience {
  pause(): Promise<void>
  /** The store closes: what is not known by now is given up. */
  readonly ended: boolean
}
