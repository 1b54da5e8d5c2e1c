/**
 * A queue that shares a resource out by key: next comes the key that has used least of it. Pure:
 * the caller says what each use cost.
 */

interface Lane<Item> {
  readonly items: Set<Item>
  /** Sum that its key has used; a key that comes anew starts at the least of the waiting ones. */
  used: number
}

/** Items in lines of their own by key. An item is in the queue once. */
export class FairQueue<Item> {
  readonly #lanes = new Map<string, Lane<Item>>()
  /** Sum that the key served last had used by then: newcomers begin here. */
  #floor = 0
  #size = 0

  /** Items that wait. */
  get size(): number {
    return this.#size
  }

  /** Puts an item at the end of the line of its key. */
  push(key: string, item: Item): void {
    const lane = this.#laneOf(key)
    // A key that had nothing to do for a while has saved up nothing.
    if (lane.items.size === 0) lane.used = Math.max(lane.used, this.#floor)
    lane.items.add(item)
    this.#size++
  }

  /** Takes the first item of the key that has used least; of two, the one that came first. */
  take(): { readonly key: string; readonly item: Item } | undefined {
    let best: { readonly key: string; readonly lane: Lane<Item> } | undefined
    for (const [key, lane] of this.#lanes) {
      if (lane.items.size === 0 || best !== undefined && best.lane.used <= lane.used) continue
      best = { key, lane }
    }
    if (best === undefined) return undefined
    const { key, lane } = best
    const [item] = lane.items
    lane.items.delete(item!)
    this.#size--
    this.#floor = Math.max(this.#floor, lane.used)
    // Of keys that have used the same, this one is last now.
    this.#lanes.delete(key)
    this.#lanes.set(key, lane)
    this.#forgetIdle()
    return { key, item: item! }
  }

  /** Notes what a use by a key has cost. */
  charge(key: string, cost: number): void {
    this.#laneOf(key).used += Math.max(0, cost)
  }

  #laneOf(key: string): Lane<Item> {
    const lane = this.#lanes.get(key) ?? { items: new Set<Item>(), used: this.#floor }
    this.#lanes.set(key, lane)
    return lane
  }

  /** Forgets keys that wait for nothing and would begin as newcomers do. */
  #forgetIdle(): void {
    for (const [key, { items, used }] of this.#lanes) {
      if (items.size === 0 && used <= this.#floor) this.#lanes.delete(key)
    }
  }
}
