/** Time limits for questions about statistics. */

import type { Env } from '../../../../cluster/index.ts'
import { tooManyToCount } from '../page.ts'

/** Milliseconds for a question that counts single spans, and for one that makes roll-ups. */
export const [countingMs, rollingMs] = [10_000, 30_000]

/** The end of the time of a question, and the signal of its caller. */
export class Deadline {
  readonly signal: AbortSignal | undefined
  readonly #env: Pick<Env, 'monotonicMs'>
  #endMs: number

  constructor(env: Pick<Env, 'monotonicMs'>, ms: number, signal?: AbortSignal) {
    this.#env = env
    this.#endMs = env.monotonicMs() + ms
    this.signal = signal
  }

  /** Waits for other work. That time does not count. */
  async waiting<Result>(work: Promise<Result>): Promise<Result> {
    const beganMs = this.#env.monotonicMs()
    const result = await work
    this.#endMs += this.#env.monotonicMs() - beganMs
    return result
  }

  /**
   * Gives other work its turn. Throws `invalid` if the time is over, or the reason of the caller's
   * signal.
   */
  async turn(): Promise<void> {
    await new Promise((turn) => setImmediate(turn))
    this.signal?.throwIfAborted()
    if (this.#env.monotonicMs() < this.#endMs) return
    throw tooManyToCount()
  }
}
