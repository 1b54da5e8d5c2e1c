/** What the process that checks a revision sends. */

/** A graph that was loaded, or why it was not. */
export interface CheckedGraph {
  readonly graphId: string
  /** In the order of the graph. Empty for one that cannot be loaded. */
  readonly nodes: readonly string[]
  /** Why it cannot be loaded, with the place in the project's code; null if it was. */
  readonly failure: string | null
}

/** The only message of the process. */
export interface CheckDone {
  readonly graphs: readonly CheckedGraph[]
}
