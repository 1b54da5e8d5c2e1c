/** Reason for which the answer of a strict run was refused. */

/**
 * not_pending   the answer names interrupts that do not wait
 * empty_map     the answer names no interrupt
 * ambiguous     the answer is one value, and several interrupts wait
 */
export type RefusalReason = 'not_pending' | 'empty_map' | 'ambiguous'

/** The error of a run whose answer was refused. The names are those of the API. */
export interface Refusal {
  readonly error: 'UnknownInterruptError'
  readonly message: string
  readonly reason: RefusalReason
  /** The interrupts that the answer names and that do not wait. */
  readonly interrupt_ids: readonly string[]
  /** The interrupts that wait. */
  readonly pending_ids: readonly string[]
}
