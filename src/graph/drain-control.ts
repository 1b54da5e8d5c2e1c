/** Asks a run to stop at its next superstep: the engine's RunControl, which it reads as it goes. */

export class DrainControl {
  readonly #entered: () => void
  #reason: string | undefined

  /** `entered` is told whenever the engine looks, which is just before it runs nodes. */
  constructor(entered: () => void) {
    this.#entered = entered
  }

  requestDrain(reason = 'shutdown'): void {
    this.#reason = reason
  }

  get drainRequested(): boolean {
    this.#entered()
    return this.#reason !== undefined
  }

  get drainReason(): string | undefined {
    return this.#reason
  }
}
