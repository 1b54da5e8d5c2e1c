/** Remembers which executions were on a worker that was lost, and which most likely lost it. */

/** Strikes kept; the oldest are forgotten first. */
const remembered = 1000

export class Suspicion {
  readonly #strikes = new Map<string, number>()
  readonly #suspects = new Set<string>()

  /**
   * All of them were there; `entered` is whose code ran last. The one with most strikes is the
   * suspect, so that a wrong guess is put right when the worker of the real one is lost again.
   */
  accuse(present: readonly string[], entered: string | undefined): void {
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
      this.acquit(oldest)
    }
  }

  /** It is to have a worker of its own. */
  isSuspect(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** It came to its end. */
  acquit(key: string): void {
    this.#strikes.delete(key)
    this.#suspects.delete(key)
  }
}
