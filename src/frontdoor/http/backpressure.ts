/** Signals that a reader takes more, or never will: all that wait are notified together. */

export class Backpressure {
  #coming: PromiseWithResolvers<void> | undefined

  wait(): Promise<void> {
    return (this.#coming ??= Promise.withResolvers()).promise
  }

  notify(): void {
    this.#coming?.resolve()
    this.#coming = undefined
  }
}
