/** Something that happens again and again, and that several wait for. */

/** Wakes all that wait for the next `notify`. */
export class Signal {
  #next = Promise.withResolvers<void>()

  /** Resolves at the next `notify`. */
  next(): Promise<void> {
    return this.#next.promise
  }

  /** Wakes all that wait now. */
  notify(): void {
    const { resolve } = this.#next
    this.#next = Promise.withResolvers()
    resolve()
  }
}
