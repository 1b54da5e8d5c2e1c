/** Remembers which executions were on lost workers, and suspects the most likely culprits. */

import { LRUCache } from '../../../cluster/index.ts'

/** Executions that are remembered. Those that lost no worker for longest are forgotten first. */
const remembered = 1000

/** Blames executions for lost workers. Belongs to the execution scheduler. */
export class CrashBlame {
  readonly #seen = new LRUCache<string, { strikes: number; isSuspect: boolean }>({
    max: remembered,
  })

  /**
   * Notes that a worker was lost with the executions `present`. `entered` is the one whose code ran
   * last. The execution with most lost workers becomes a suspect. After a wrong guess, the culprit
   * loses another worker and is found then.
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

  /** True for a suspect, which gets a worker of its own. */
  isSuspect(key: string): boolean {
    return this.#seen.peek(key)?.isSuspect === true
  }

  /** Forgets an execution. Call when it has ended. */
  clear(key: string): void {
    this.#seen.delete(key)
  }
}
