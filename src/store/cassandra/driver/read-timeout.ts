/** Time for a read and for each of its attempts. */

import type { Env } from '../../../../cluster/index.ts'
import { attemptMs } from './client-options.ts'

/** Time for a read while Cassandra may be out of reach. Includes the last attempt. */
const readMs = 2_000
/** Time for a read while other requests are answered, and only this one is slow. */
const slowReadMs = 8_000
/** Least time for an attempt, and what the first attempt leaves for another one. */
const shortestAttemptMs = 400
/** Delay of a timer from which on this process counts as paused. */
const stillMs = 400

/** The time left for one read and its attempts. */
export class ReadTimeout {
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #inReach: () => boolean
  readonly #beganMs: number
  #attempts = 0
  #askedMs = 0
  #timeoutMs = 0

  /** `inReach` tells whether other requests were answered recently. */
  constructor(env: Pick<Env, 'monotonicMs'>, inReach: () => boolean) {
    this.#env = env
    this.#inReach = inReach
    this.#beganMs = env.monotonicMs()
  }

  /** Time for the attempt that begins now. A pause of `pauseMs` follows it. */
  nextMs(pauseMs: number): number {
    const keptMs = this.#attempts === 0 ? shortestAttemptMs + pauseMs : 0
    this.#attempts++
    this.#askedMs = this.#env.monotonicMs()
    const leftMs = Math.ceil(this.#endMs - this.#askedMs) - keptMs
    return this.#timeoutMs = Math.max(shortestAttemptMs, Math.min(attemptMs, leftMs))
  }

  /** True if the failed attempt was the last one, because another would come too late. */
  hasEnded(pauseMs: number): boolean {
    const nowMs = this.#env.monotonicMs()
    // If this process was paused, the answer may have come in time. One attempt proves little then.
    const stoodStill = nowMs - this.#askedMs > this.#timeoutMs + stillMs &&
      nowMs < this.#beganMs + slowReadMs
    return nowMs + pauseMs >= this.#endMs && this.#attempts > 1 && !stoodStill
  }

  get #endMs(): number {
    return this.#beganMs + (this.#inReach() ? slowReadMs : readMs)
  }
}
