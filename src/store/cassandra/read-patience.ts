/** How long a read goes on trying, and how long each of its attempts. */

import type { Env } from '../../../cluster/index.ts'
import { attemptMs } from './client-options.ts'

/** Where Cassandra may be out of reach, the last try included. */
const readMs = 2_000
/** Where it is not: other requests are answered, this one is slow. */
const slowReadMs = 8_000
/** The least that an attempt is given, and what the first one leaves to another. */
const shortestAttemptMs = 400
/** A timer that is so late says that this process stood still. */
const stillMs = 400

export class ReadPatience {
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #inReach: () => boolean
  readonly #beganMs: number
  #attempts = 0
  #askedMs = 0
  #timeoutMs = 0

  /** `inReach`: other requests were answered lately. */
  constructor(env: Pick<Env, 'monotonicMs'>, inReach: () => boolean) {
    this.#env = env
    this.#inReach = inReach
    this.#beganMs = env.monotonicMs()
  }

  /** How long the attempt that begins now waits for its answer; then comes a pause. */
  nextMs(pauseMs: number): number {
    const keptMs = this.#attempts === 0 ? shortestAttemptMs + pauseMs : 0
    this.#attempts++
    this.#askedMs = this.#env.monotonicMs()
    const leftMs = Math.ceil(this.#endMs - this.#askedMs) - keptMs
    return this.#timeoutMs = Math.max(shortestAttemptMs, Math.min(attemptMs, leftMs))
  }

  /** Whether the attempt that failed was the last one, since another would come too late. */
  isOver(pauseMs: number): boolean {
    const nowMs = this.#env.monotonicMs()
    // Where this process stood still its answer may have been there in time; one says little.
    const stoodStill = nowMs - this.#askedMs > this.#timeoutMs + stillMs &&
      nowMs < this.#beganMs + slowReadMs
    return nowMs + pauseMs >= this.#endMs && this.#attempts > 1 && !stoodStill
  }

  get #endMs(): number {
    return this.#beganMs + (this.#inReach() ? slowReadMs : readMs)
  }
}
