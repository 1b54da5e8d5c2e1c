/** Pauses between starts of workers that end before they have loaded the project. */

import { backoffMs } from '../../../../cluster/index.ts'

type Range = Parameters<typeof backoffMs>[0]

/** Calls `resumed` after each pause. A success makes the next pause the first one again. */
export class StartPauses {
  readonly #range: Range
  readonly #random: () => number
  readonly #after: (ms: number, fn: () => void) => void
  readonly #resumed: () => void
  #failures = 0
  #isPaused = false

  constructor(
    { range, random, after, resumed }: { readonly range: Range; readonly random: () => number;
      readonly after: (ms: number, fn: () => void) => void; readonly resumed: () => void },
  ) {
    this.#range = range
    this.#random = random
    this.#after = after
    this.#resumed = resumed
  }

  /** True while nothing should be started. */
  get isPaused(): boolean {
    return this.#isPaused
  }

  succeeded(): void {
    this.#failures = 0
  }

  failed(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#after(backoffMs(this.#range, ++this.#failures, this.#random()), () => {
      this.#isPaused = false
      this.#resumed()
    })
  }
}
