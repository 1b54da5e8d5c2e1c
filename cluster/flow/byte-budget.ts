/** A limit in bytes that many holders share: beyond it, the least recently used release theirs. */

/**
 * Bytes by holder, the least recently used first. No LRUCache: it drops an entry that alone is
 * beyond the limit, and here the last holder keeps what it has.
 */
export class ByteBudget<Key> {
  readonly #limitBytes: number
  readonly #held = new Map<Key, { bytes: number; release: () => void }>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Count of those that hold some of the budget. */
  get holders(): number {
    return this.#held.size
  }

  /** Bytes that are held now. */
  get bytes(): number {
    return this.#bytes
  }

  /** `key` holds `bytes` now and was just used. `release` makes it hold nothing. */
  hold(key: Key, bytes: number, release: () => void): void {
    this.release(key)
    this.#held.set(key, { bytes, release })
    this.#bytes += bytes
    for (const [oldest, { release: drop }] of this.#held) {
      if (this.#bytes <= this.#limitBytes || oldest === key) break
      this.release(oldest)
      drop()
    }
  }

  /** `key` holds nothing any more. */
  release(key: Key): void {
    this.#bytes -= this.#held.get(key)?.bytes ?? 0
    this.#held.delete(key)
  }
}
