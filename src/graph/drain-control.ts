/** Asks a run to stop at its next superstep: the engine's RunControl, which it reads as it goes. */

export class DrainControl {
  readonly #entered: () => void
  #reason: string | undefined
  /** The run is to go on elsewhere or later, and not only to stop. */
  handsBack = false

  /** `entered` is told whenever the engine looks, which is just before it runs nodes. */
  constructor(entered: () => void) {
    this.#entered = entered
  }

  /** We ask for it. */
  handBack(): void {
    this.handsBack = true
    this.requestDrain()
  }

  /** A node asks for it, by the engine's own word. */
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
