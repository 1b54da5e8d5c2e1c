/** Arrival times of operations. No two operations of a thread have the same one. */

import type { Env } from '../../../cluster/index.ts'
import { cautiousClock } from '../../limits/index.ts'

/**
 * Counts up while the clock of the machine stands still or goes back, and does not follow it when
 * it jumps ahead: arrival times decide which patch wins. The clock goes back by more than
 * `followsMs` only together with the clock of the machine. By default it never goes back.
 */
export class ArrivalClock {
  readonly #nowMs: () => number
  readonly #followsUs: number
  #lastUs = 0

  constructor(env: Pick<Env, 'nowMs' | 'monotonicMs'>, { followsMs = Infinity } = {}) {
    this.#nowMs = cautiousClock(env)
    this.#followsUs = followsMs * 1_000
  }

  /** Microseconds since 1970, later than any before unless the clock is followed back. */
  nextUs(): number {
    const nowUs = Math.floor(this.#nowMs() * 1_000)
    this.#lastUs = this.#lastUs - nowUs > this.#followsUs
      ? nowUs
      : Math.max(this.#lastUs + 1, nowUs)
    return this.#lastUs
  }
}
