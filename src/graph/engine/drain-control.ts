/** Asks a run to stop at its next superstep: the engine's RunControl, which it reads as it goes. */

export class DrainControl {
  readonly #entered: () => void
  #reason: string | undefined
  /** Set if the server asked: the run continues elsewhere or later. A node only stops it. */
  handsBack = false

  /** `entered` is called when the engine reads `drainRequested`: just before it runs nodes. */
  constructor(entered: () => void) {
    this.#entered = entered
  }

  /** The server asks for it. */
  handBack(): void {
    this.handsBack = true
    this.requestDrain()
  }

  /** A node asks for it; the name is the engine's. */
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
