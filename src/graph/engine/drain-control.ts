/** Asks a run to stop at its next superstep: the engine's RunControl, which it reads as it goes. */

/** Asks one run to stop. The engine reads it before each superstep. */
export class DrainControl {
  readonly #entered: () => void
  #reason: string | undefined
  /**
   * True if the server asked, so that the run continues elsewhere or later. A node only stops it.
   */
  handsBack = false

  /** `entered` is called when the engine reads `drainRequested`, just before it runs nodes. */
  constructor(entered: () => void) {
    this.#entered = entered
  }

  /** Stops the run on behalf of the server. */
  handBack(): void {
    this.handsBack = true
    this.requestDrain()
  }

  /** Stops the run on behalf of a node. The name is the engine's. */
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
