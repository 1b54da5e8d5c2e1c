/** One timer for work that several ask for, each at a time of its own. */

import type { Env } from '../runtime/env.ts'

/** Does its work once, at the earliest of the times that it was asked for. */
export class EarliestTimer {
  readonly #env: Pick<Env, 'after' | 'monotonicMs'>
  readonly #work: () => void
  #atMs = Number.POSITIVE_INFINITY
  #stop = () => {}

  constructor(env: Pick<Env, 'after' | 'monotonicMs'>, work: () => void) {
    this.#env = env
    this.#work = work
  }

  /** Asks for the work after `ms`. */
  within(ms: number): void {
    const atMs = this.#env.monotonicMs() + ms
    if (atMs >= this.#atMs) return
    this.#stop()
    this.#atMs = atMs
    this.#stop = this.#env.after(ms, () => {
      this.#atMs = Number.POSITIVE_INFINITY
      this.#work()
    })
  }

  /** The work is not done any more, whoever asks. */
  close(): void {
    this.#stop()
    this.#atMs = Number.NEGATIVE_INFINITY
  }
}
