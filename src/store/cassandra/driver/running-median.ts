/** An estimate of the median time of something. */

/** Factor by which each new time moves the estimate, so that it settles at the median. */
const step = 1.05
/** Least estimate, for a clock that does not move. From 0 it would never rise again. */
const leastMs = 0.1

/** Follows the median of recent times with one number. */
export class RunningMedian {
  #ms: number

  /** `ms` is the estimate before the first time is recorded. */
  constructor(ms: number) {
    this.#ms = ms
  }

  get ms(): number {
    return this.#ms
  }

  add(tookMs: number): void {
    this.#ms = Math.max(leastMs, tookMs > this.#ms ? this.#ms * step : this.#ms / step)
  }
}
