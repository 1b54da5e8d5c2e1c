/**
 * Schedule of the validations of the own session: a policy, which no rule depends on.
 *
 * A validation is one read of the store, whoever shares it. Callers that come in one tick share
 * one; so do those that come while another one is under way.
 */

import { backoffMs } from '../flow/backoff.ts'
import type { Env } from '../runtime/env.ts'

/** The validation that a batcher begins, and its clock. */
export interface CheckBatcherOptions {
  readonly env: Env
  /** Begins a validation; `ended` is to be called after it. */
  begin(): void
}

/** Pause of a closed check before it asks the store again. */
const rests = { firstMs: 250, longestMs: 250 }

/**
 * idle     No validation is asked for.
 * resting  The store could not be reached: it is asked again after a while.
 * due      A validation is under way, or begins in this tick.
 */
type BatcherPhase = 'idle' | 'resting' | 'due'

/** Begins validations, one at a time. */
export class CheckBatcher {
  readonly #options: CheckBatcherOptions
  #phase: BatcherPhase = 'idle'
  #stopTimer = () => {}

  constructor(options: CheckBatcherOptions) {
    this.#options = options
  }

  /** A caller waits for a validation. `isClosed`: the last one could not be made. */
  request(isClosed: boolean): void {
    if (this.#phase !== 'idle') return
    const { env, begin } = this.#options
    if (!isClosed) {
      this.#phase = 'due'
      // Not at once: whatever else completes in this tick shares it.
      queueMicrotask(begin)
      return
    }
    this.#phase = 'resting'
    this.#stopTimer = env.after(backoffMs(rests, 1, env.random()), () => {
      this.#phase = 'due'
      begin()
    })
  }

  /** A validation has ended: the next one may be asked for. */
  ended(): void {
    this.#phase = 'idle'
  }

  /** Nothing is begun any more, but for a validation that is due in this tick. */
  stop(): void {
    this.#stopTimer()
    this.#phase = 'due'
  }
}
