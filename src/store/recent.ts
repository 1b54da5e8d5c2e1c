/** A map that keeps what was used most recently. */

/** Keeps at most `limit` items. The one that was not used for the longest time goes first. */
export class Recent<Key, Item> {
  readonly #limit: number
  readonly #items = new Map<Key, Item>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: Key): Item | undefined {
    const item = this.#items.get(key)
    if (item !== undefined) this.set(key, item)
    return item
  }

  set(key: Key, item: Item): void {
    this.#items.delete(key)
    this.#items.set(key, item)
    if (this.#items.size > this.#limit) this.#items.delete(this.#items.keys().next().value!)
  }

  delete(key: Key): void {
    this.#items.delete(key)
  }

  clear(): void {
    this.#items.clear()
  }
}
