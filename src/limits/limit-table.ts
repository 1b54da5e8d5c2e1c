/** The port of what limits let through, for their next counters. Its rows expire. */

/** Tokens that were let through at one time. */
export interface LimitAdmit {
  /** Time by the clock of the writer, in milliseconds since 1970. */
  readonly atMs: number
  readonly tokens: number
}

/** Names a counter: the limit (`row`), and a hash of who is limited (`who`). */
export interface LimitKey {
  readonly row: string
  readonly who: string
}

/** Stores admits of durable limits. The owner of a counter uses it. */
export interface LimitTable {
  /**
   * Resolves when the admit is durable, so that the next owner will read it. It may expire `keptMs`
   * after its time, not before.
   */
  append(key: LimitKey, admit: LimitAdmit & { readonly keptMs: number }): Promise<void>
  /** Admits since then that have not expired, in any order. */
  since(key: LimitKey, sinceMs: number): Promise<readonly LimitAdmit[]>
}
