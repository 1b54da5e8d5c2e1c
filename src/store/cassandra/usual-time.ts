/** How long something usually takes. */

/** It follows what is heard by so much each time: it comes to rest at the median. */
const step = 1.05
/** Of a clock that does not move: from nothing it would never rise again. */
const leastMs = 0.1

export class UsualTime {
  #ms: number

  /** `ms` is what is taken for usual before anything is heard. */
  constructor(ms: number) {
    this.#ms = ms
  }

  get ms(): number { return this.#ms }

  heard(tookMs: number): void {
    this.#ms = Math.max(leastMs, tookMs > this.#ms ? this.#ms * step : this.#ms / step)
  }
}
