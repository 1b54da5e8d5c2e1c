/**
 * Turns on an event loop, shared out by key: work that takes long is done in slices of some
 * milliseconds, and the time of each is charged to its key.
 */

import type { Env } from '../runtime/env.ts'
import { FairQueue } from './fair-queue.ts'

/** Milliseconds after which a slice is over, and those for which work may go on without a turn. */
const [sliceMs, briefMs] = [5, 1]

/** The turns of one event loop. */
export class FairTurns {
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #waiting = new FairQueue<() => void>()
  /** Whose slice it is; undefined if no one was given any. */
  #running: string | undefined
  #beganMs = -Infinity
  #scheduled = false

  constructor(env: Pick<Env, 'monotonicMs'>) {
    this.#env = env
  }

  /**
   * Returns the function that work of a key calls often, from its begin on, and awaits. Work of
   * less than a millisecond waits for no turn, however long others have just worked.
   */
  pauses(key: string): () => Promise<void> | undefined {
    let beganMs = this.#env.monotonicMs()
    return () => {
      const nowMs = this.#env.monotonicMs()
      if (nowMs - beganMs < briefMs || nowMs - this.#beganMs < sliceMs) return undefined
      return this.#next(key).then(() => {
        beganMs = this.#beganMs
      })
    }
  }

  /** Resolves when the next slice of a key begins. */
  #next(key: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(key, resolve)
    if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => this.#begin())
    }
    return promise
  }

  /** Charges the key whose slice has just ended, and begins the next slice. */
  #begin(): void {
    const nowMs = this.#env.monotonicMs()
    if (this.#running !== undefined) this.#waiting.charge(this.#running, nowMs - this.#beganMs)
    const next = this.#waiting.take()
    this.#running = next?.key
    this.#beganMs = nowMs
    this.#scheduled = next !== undefined
    if (next === undefined) return
    setImmediate(() => this.#begin())
    next.item()
  }
}
