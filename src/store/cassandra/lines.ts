/** Lines in which calls wait for those that came before them and touch the same things. */

export interface Ticket {
  /** Resolves when everybody before has left, however it ended; undefined where nobody is. */
  readonly before: Promise<unknown> | undefined
  leave(): void
}

export class Lines {
  readonly #ends = new Map<string, Promise<void>>()

  /** At the end of each of these lines; whoever enters must leave. */
  enter(keys: readonly string[]): Ticket {
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

  /** When everybody has left who is in this line now. */
  passed(key: string): Promise<void> | undefined {
    return this.#ends.get(key)
  }

  /** When everybody has left who is in any line now. */
  async quiet(): Promise<void> {
    await Promise.all(this.#ends.values())
  }
}
