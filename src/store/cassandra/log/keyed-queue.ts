/** Queues in which a call waits for earlier calls about the same things. */

/** The place of a call in its queues. */
export interface QueueSlot {
  /** Resolves when all calls before have left, however they ended; undefined if there are none. */
  readonly before: Promise<unknown> | undefined
  leave(): void
}

/** Queues by key. A queue without calls takes no memory. */
export class KeyedQueue {
  readonly #ends = new Map<string, Promise<void>>()

  /** Enters the queue of each key at its end. The call must `leave` when it has ended. */
  enter(keys: readonly string[]): QueueSlot {
    const before = keys.flatMap((key) => this.#ends.get(key) ?? [])
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const key of keys) this.#ends.set(key, promise)
    return {
      before: before.length === 0 ? undefined : Promise.all(before),
      leave: () => {
        for (const key of keys) if (this.#ends.get(key) === promise) this.#ends.delete(key)
        resolve()
      },
    }
  }

  /** Resolves when all calls that are in this queue now have left; undefined if it is empty. */
  passed(key: string): Promise<void> | undefined {
    return this.#ends.get(key)
  }

  /** Resolves when all calls that are in any queue now have left. */
  async quiet(): Promise<void> {
    await Promise.all(this.#ends.values())
  }
}
