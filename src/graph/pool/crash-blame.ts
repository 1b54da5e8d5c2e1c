/** Remembers which executions were on lost workers, and suspects the most likely culprits. */

import { LRUCache } from '../../../cluster/index.ts'

/** How many executions are remembered; the ones that lost no worker for longest are forgotten. */
const remembered = 1000

export class CrashBlame {
  readonly #seen = new LRUCache<string, { strikes: number; isSuspect: boolean }>({
    max: remembered,
  })

  /**
   * A worker was lost with the executions `present`; `entered` is the one whose code ran last. The
   * one with most lost workers is suspected: after a wrong guess, the culprit loses another one.
   */
  blame(present: readonly string[], entered: string | undefined): void {
    let suspect: { key: string; weight: number } | undefined
    for (const key of present) {
      const { strikes = 0, isSuspect = false } = this.#seen.peek(key) ?? {}
      this.#seen.set(key, { strikes: strikes + 1, isSuspect })
      const weight = strikes + (key === entered ? 0.5 : 0)
      if (!suspect || weight > suspect.weight) suspect = { key, weight }
    }
    const blamed = suspect && this.#seen.peek(suspect.key)
    if (blamed) blamed.isSuspect = true
  }

  /** A suspect gets a worker of its own. */
  isSuspect(key: string): boolean {
    return this.#seen.peek(key)?.isSuspect === true
  }

  /** Call it when the execution has ended. */
  clear(key: string): void {
    this.#seen.delete(key)
  }
}
