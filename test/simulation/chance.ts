/** Reproducible chance: every random choice of a simulated world follows from its seed. */

export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0
    for (let i = 0; i < 4; i++) this.number()
  }

  /** From 0 to below 1. */
  number(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }

  /** True with this probability. */
  flip(probability: number): boolean {
    return this.number() < probability
  }

  between(low: number, high: number): number {
    return low + this.number() * (high - low)
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.number() * limit)
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    const rest = [...items]
    return items.map(() => rest.splice(this.below(rest.length), 1)[0]!)
  }
}
