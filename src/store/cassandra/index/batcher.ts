/** Lets concurrent callers continue as a group: what is then done for all at once costs less. */

import type { Env } from '../../../../cluster/index.ts'

export interface BatcherOptions {
  readonly env: Env
  /** The size of a group. Fewer callers than this do not wait for each other. */
  readonly size: number
  /** The longest that anyone waits for others. */
  readonly patienceMs: number
}

export class Batcher {
  readonly #options: BatcherOptions
  /** Callers whose `work` is not done yet. */
  #coming = 0
  #here: (() => void)[] = []
  /** Set while anyone waits. */
  #stopWaiting: (() => void) | undefined

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  /**
   * Does `work`, then waits for others who are doing theirs: until there are enough of them, too
   * few are left to become enough, or the first one has waited long enough. Throws what `work`
   * throws.
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
