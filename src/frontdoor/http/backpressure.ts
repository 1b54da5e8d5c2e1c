/** Signals that a reader takes more, or never will: all that wait are notified together. */

export class Readiness {
  #coming: PromiseWithResolvers<void> | undefined

  wait(): Promise<void> {
    return (this.#coming ??= Promise.withResolvers()).promise
  }

  tell(): void {
    this.#coming?.resolve()
    this.#coming = undefined
  }
}
