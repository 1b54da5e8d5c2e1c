/** Times of arrival: no two of a thread are the same. */

import type { Env } from '../../../cluster/index.ts'

/**
 * Counts up where the clock stands still or goes back. It follows one that goes back by more than
 * `followsMs`; by default, none.
 */
export class ArrivalClock {
  readonly #env: Pick<Env, 'nowMs'>
  readonly #followsUs: number
  #lastUs = 0

  constructor(env: Pick<Env, 'nowMs'>, { followsMs = Infinity } = {}) {
    this.#env = env
    this.#followsUs = followsMs * 1_000
  }

  /** Microseconds since 1970, later than any before unless the clock is followed back. */
  nextUs(): number {
    const nowUs = this.#env.nowMs() * 1_000
    this.#lastUs = this.#lastUs - nowUs > this.#followsUs
      ? nowUs
      : Math.max(this.#lastUs + 1, nowUs)
    return this.#lastUs
  }
}
