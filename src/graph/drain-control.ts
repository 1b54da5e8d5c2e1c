/** Asks a run to stop at its next superstep: the engine's RunControl, which it reads as it goes. */

export class DrainControl {
  readonly #entered: () => void
  #reason: string | undefined
  /** The server asked: the run continues elsewhere or later. A node's wish only stops it. */
  handsBack = false

  /** `entered` is called whenever the engine looks, which is just before it runs nodes. */
  constructor(entered: () => void) {
    this.#entered = entered
  }

  /** The server asks for it. */
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
