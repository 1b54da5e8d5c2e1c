/** Lets concurrent callers continue as a group. What is then done for all at once costs less. */

import type { Env } from '../../../../cluster/index.ts'

/** Size of a group of callers, and the longest wait for it. */
export interface BatcherOptions {
  readonly env: Env
  /** Callers in a group. Fewer than this do not wait for each other. */
  readonly size: number
  /** The longest that a caller waits for others. */
  readonly patienceMs: number
}

/** Groups callers. A group begins with the first that is done. */
export class Batcher {
  readonly #options: BatcherOptions
  /** Callers whose `work` is not done yet. */
  #coming = 0
  #here: (() => void)[] = []
  /** Set while a caller waits. */
  #stopWaiting: (() => void) | undefined

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  /**
   * Does `work`, then waits for other callers that are doing theirs. Waits until there are enough
   * of them, too few are left to become enough, or the first one has waited long enough. Throws
   * what `work` throws.
   */
  async after<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#coming++
    let result: Result
    try {
      result = await work()
    } catch (error) {
      this.#coming--
      this.#resume()
      throw error
    }
    const gone = new Promise<void>((go) => this.#here.push(go))
    this.#coming--
    this.#resume()
    await gone
    return result
  }

  #resume(): void {
    if (this.#here.length === 0) return
    const { size } = this.#options
    if (this.#here.length < size && this.#here.length + this.#coming >= size) {
      this.#stopWaiting ??= this.#options.env.after(this.#options.patienceMs, () => this.#leave())
    } else {
      this.#leave()
    }
  }

  #leave(): void {
    this.#stopWaiting?.()
    this.#stopWaiting = undefined
    for (const go of this.#here.splice(0)) go()
  }
}
