/** Order to replay a run, which its execution carries. */

/** The recording that answers an execution's calls. */
export interface ReplayOrder {
  /** Its packed blocks, of one execution. */
  readonly blocks: readonly Uint8Array[]
  /** Begin of the recorded execution, to which the clock is set. */
  readonly startedAtMs: number
}
