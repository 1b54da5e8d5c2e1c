/** The port of what limits let through, for their next counters: rows that expire. */

export interface LimitAdmit {
  /** By the clock of the writer, in milliseconds since 1970. */
  readonly atMs: number
  readonly tokens: number
}

/** Which limit, and who is limited: the name of the limit and a hash. */
export interface LimitKey {
  readonly row: string
  readonly who: string
}

export interface LimitTable {
  /**
   * Resolves when it is durable, and the next owner will read it. It may expire `keptMs` after its
   * time, not before.
   */
  append(key: LimitKey, admit: LimitAdmit & { readonly keptMs: number }): Promise<void>
  /** Those since then that have not expired, in any order. */
  since(key: LimitKey, sinceMs: number): Promise<readonly LimitAdmit[]>
}
