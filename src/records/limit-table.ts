/** What a limit let through, for whoever counts it next: rows that fade when they are over. */

export interface LimitAdmit {
  /** By the clock of whoever wrote it, in milliseconds since 1970. */
  readonly atMs: number
  readonly tokens: number
}

/** Which limit, and who is limited: a row's name and a hash. */
export interface LimitKey {
  readonly row: string
  readonly who: string
}

export interface LimitTable {
  /**
   * Resolves when it is durable, and whoever takes over from here will read it. It may fade
   * `keptMs` after its time, not before.
   */
  append(key: LimitKey, admit: LimitAdmit & { readonly keptMs: number }): Promise<void>
  /** Those since then that are left, in any order. */
  since(key: LimitKey, sinceMs: number): Promise<readonly LimitAdmit[]>
}
