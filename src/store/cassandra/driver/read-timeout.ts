/** How long a read keeps trying, and how long each of its attempts. */

import type { Env } from '../../../../cluster/index.ts'
import { attemptMs } from './client-options.ts'

/** If Cassandra may be out of reach; includes the last attempt. */
const readMs = 2_000
/** If it is in reach: other requests are answered, only this one is slow. */
const slowReadMs = 8_000
/** The least time for an attempt, and what the first attempt leaves for another one. */
const shortestAttemptMs = 400
/** A timer this late means that this process was paused. */
const stillMs = 400

export class ReadTimeout {
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #inReach: () => boolean
  readonly #beganMs: number
  #attempts = 0
  #askedMs = 0
  #timeoutMs = 0

  /** `inReach`: whether other requests were answered recently. */
  constructor(env: Pick<Env, 'monotonicMs'>, inReach: () => boolean) {
    this.#env = env
    this.#inReach = inReach
    this.#beganMs = env.monotonicMs()
  }

  /** How long the attempt that begins now may wait for its answer. A pause follows. */
  nextMs(pauseMs: number): number {
    const keptMs = this.#attempts === 0 ? shortestAttemptMs + pauseMs : 0
    this.#attempts++
    this.#askedMs = this.#env.monotonicMs()
    const leftMs = Math.ceil(this.#endMs - this.#askedMs) - keptMs
    return this.#timeoutMs = Math.max(shortestAttemptMs, Math.min(attemptMs, leftMs))
  }

  /** Whether the failed attempt was the last one, because another would come too late. */
  hasEnded(pauseMs: number): boolean {
    const nowMs = this.#env.monotonicMs()
    // If this process was paused, the answer may have come in time; one attempt proves little.
    const stoodStill = nowMs - this.#askedMs > this.#timeoutMs + stillMs &&
      nowMs < this.#beganMs + slowReadMs
    return nowMs + pauseMs >= this.#endMs && this.#attempts > 1 && !stoodStill
  }

  get #endMs(): number {
    return this.#beganMs + (this.#inReach() ? slowReadMs : readMs)
  }
}
