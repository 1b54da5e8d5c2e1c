/** A sorted ring of moments with a maximum size. Beyond that, the oldest are dropped. */

/** Keeps moments in milliseconds, in 8 bytes each. */
export class TimeRing {
  readonly #most: number
  #moments = new Float64Array(16)
  #head = 0
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#size
  }

  /** Adds a moment this many times. */
  push(atMs: number, times: number): void {
    for (let left = Math.min(times, this.#most); left > 0; left--) {
      if (this.#size === this.#most) {
        if (atMs <= this.at(0)) return
        this.#drop()
      }
      if (this.#size === this.#moments.length) this.#grow()
      let index = this.#size++
      for (; index > 0 && this.at(index - 1) > atMs; index--) this.#put(index, this.at(index - 1))
      this.#put(index, atMs)
    }
  }

  /** The moment at an index from the oldest; Infinity if there are fewer. */
  at(index: number): number {
    return index < this.#size
      ? this.#moments[(this.#head + index) % this.#moments.length]!
      : Infinity
  }

  /** Drops moments before the given one. */
  dropBefore(overMs: number): void {
    while (this.at(0) < overMs) this.#drop()
  }

  #put(index: number, atMs: number): void {
    this.#moments[(this.#head + index) % this.#moments.length] = atMs
  }

  #drop(): void {
    this.#head = (this.#head + 1) % this.#moments.length
    this.#size--
  }

  #grow(): void {
    const moments = new Float64Array(2 * this.#moments.length)
    for (let index = 0; index < this.#size; index++) moments[index] = this.at(index)
    this.#moments = moments
    this.#head = 0
  }
}
