/** Times of arrival: no two operations of a thread have the same one. */

import type { Env } from '../../../cluster/index.ts'

/** Counts up where the clock stands still or goes back. */
export class ArrivalClock {
  readonly #env: Env
  #lastUs = 0

  constructor(env: Env) {
    this.#env = env
  }

  /** Microseconds since 1970, later than any before. */
  nextUs(): number {
    this.#lastUs = Math.max(this.#lastUs + 1, this.#env.nowMs() * 1000)
    return this.#lastUs
  }
}
