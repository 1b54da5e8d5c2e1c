/** A signal that a reader takes more, or has closed. All that wait are notified together. */

/** Lets writers wait for one reader. */
export class Backpressure {
  #coming: PromiseWithResolvers<void> | undefined

  /** Resolves at the next `notify`. */
  wait(): Promise<void> {
    return (this.#coming ??= Promise.withResolvers()).promise
  }

  /** Wakes all that wait. */
  notify(): void {
    this.#coming?.resolve()
    this.#coming = undefined
  }
}
