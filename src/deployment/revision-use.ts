/** Use of a revision, which removals and roll-outs have to know. */

/** Runs and waiting threads of a revision in the whole cluster. */
export interface RevisionUse {
  /** Runs that execute. */
  readonly running: number
  /** Threads that wait for an answer at one of its nodes. */
  readonly waitingThreads: number
}

/**
 * Counts the use of the revisions of a deployment by name; those without any may be left out. Null
 * if there is too much to count.
 */
export type CountRevisionUse = (
  deployment: string,
) => Promise<ReadonlyMap<string, RevisionUse> | null>
