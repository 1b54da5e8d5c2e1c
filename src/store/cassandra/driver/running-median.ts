/** How long something usually takes. */

/** Each new time moves the estimate by this factor, so that it settles at the median. */
const step = 1.05
/** The least estimate, for a clock that does not move: from 0 it would never rise again. */
const leastMs = 0.1

export class RunningMedian {
  #ms: number

  /** `ms` is the estimate before the first time is recorded. */
  constructor(ms: number) {
    this.#ms = ms
  }

  get ms(): number {
    return this.#ms
  }

  applied(tookMs: number): void {
    this.#ms = Math.max(leastMs, tookMs > this.#ms ? this.#ms * step : this.#ms / step)
  }
}
