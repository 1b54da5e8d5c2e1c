/** Lets a stream wait until there may be something new, or for a while. */

import type { Env } from '../../../cluster/index.ts'

/** A pause that may be cut short. What happens during work is not missed. */
export class Waker {
  readonly #env: Pick<Env, 'after'>
  #woken = false
  #wake: (() => void) | undefined

  constructor(env: Pick<Env, 'after'>) {
    this.#env = env
  }

  /** Ends this pause, or the next one. */
  wake(): void {
    this.#woken = true
    this.#wake?.()
  }

  /** Resolves after the time, or when woken. */
  async pause(ms: number): Promise<void> {
    if (!this.#woken) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const stop = this.#env.after(ms, resolve)
      this.#wake = resolve
      await promise
      stop()
    }
    this.#wake = undefined
    this.#woken = false
  }
}
