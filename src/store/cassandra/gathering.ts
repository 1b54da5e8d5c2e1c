/** Those who go on together where they are many: what is done for all at once costs less. */

import type { Env } from '../../../cluster/index.ts'

export interface GatheringOptions {
  readonly env: Env
  /** So many go on together; fewer do not wait for each other. */
  readonly size: number
  /** The longest that anybody waits for others. */
  readonly patienceMs: number
}

export class Gathering {
  readonly #options: GatheringOptions
  /** On their way here. */
  #coming = 0
  #here: (() => void)[] = []
  /** Set while somebody waits. */
  #stopWaiting: (() => void) | undefined

  constructor(options: GatheringOptions) {
    this.#options = options
  }

  /**
   * Does `work`, then waits for others who are at theirs: until there are enough, there cannot be
   * any more, or the first one has waited long enough. Throws what `work` throws.
   */
  async after<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#coming++
    let result: Result
    try {
      result = await work()
    } catch (error) {
      this.#coming--
      this.#goOn()
      throw error
    }
    const gone = new Promise<void>((go) => this.#here.push(go))
    this.#coming--
    this.#goOn()
    await gone
    return result
  }

  #goOn(): void {
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
