/** Remembers which executions were on lost workers, and suspects the most likely culprits. */

/** Executions that are remembered. The oldest are forgotten first. */
const remembered = 1000

/** Blames executions for lost workers. Belongs to the execution scheduler. */
export class CrashBlame {
  readonly #strikes = new Map<string, number>()
  readonly #suspects = new Set<string>()

  /**
   * Notes that a worker was lost with the executions `present`. `entered` is the one whose code ran
   * last. The execution with most lost workers becomes a suspect. After a wrong guess, the culprit
   * loses another worker and is found then.
   */
  blame(present: readonly string[], entered: string | undefined): void {
    let suspect: { key: string; weight: number } | undefined
    for (const key of present) {
      const strikes = (this.#strikes.get(key) ?? 0) + 1
      this.#strikes.delete(key)
      this.#strikes.set(key, strikes)
      const weight = strikes + (key === entered ? 0.5 : 0)
      if (!suspect || weight > suspect.weight) suspect = { key, weight }
    }
    if (suspect) this.#suspects.add(suspect.key)
    for (const oldest of this.#strikes.keys()) {
      if (this.#strikes.size <= remembered) break
      this.clear(oldest)
    }
  }

  /** True for a suspect, which gets a worker of its own. */
  isSuspect(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** Forgets an execution. Call when it has ended. */
  clear(key: string): void {
    this.#strikes.delete(key)
    this.#suspects.delete(key)
  }
}
