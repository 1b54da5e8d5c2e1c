/** Remembers which executions were on lost workers, and suspects the most likely culprits. */

/** How many executions are remembered; the oldest are forgotten first. */
const remembered = 1000

export class CrashBlame {
  readonly #strikes = new Map<string, number>()
  readonly #suspects = new Set<string>()

  /**
   * A worker was lost with the executions `present`; `entered` is the one whose code ran last. The
   * one with most lost workers is suspected: after a wrong guess, the culprit loses another one.
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

  /** A suspect gets a worker of its own. */
  isSuspect(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** Call it when the execution has ended. */
  clear(key: string): void {
    this.#strikes.delete(key)
    this.#suspects.delete(key)
  }
}
