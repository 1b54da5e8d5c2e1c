/** Asks a run to stop at its next superstep: the engine's RunControl, which it reads as it goes. */

/** Asks one run to stop. The engine reads it before each superstep. */
export class DrainControl {
  readonly #entered: () => void
  #reason: string | undefined
  /**
   * True if the server asked, so that the run continues elsewhere or later. A node only stops it.
   */
  handsBack = false
  /** True if it was asked for messages: it then stops only where they may be added. */
  #isForMessages = false
  /** True from the end of a superstep of the graph itself until the engine asks whether to stop. */
  #mayAdd = false

  /** Number of reads after which the values of the state contain the input. */
  readsForInput = 1
  #reads = 0
  /** True if the run stops as soon as its input is in the state. */
  #isForInput = false

  /** `entered` is called when the engine reads `drainRequested`, just before it runs nodes. */
  constructor(entered: () => void) {
    this.#entered = entered
  }

  /** Stops the run on behalf of the server. */
  handBack(): void {
    this.handsBack = true
    this.requestDrain()
  }

  /** Stops the run on behalf of the server, after a superstep at which messages may be added. */
  handBackForMessages(): void {
    this.#isForMessages = true
  }

  /** Stops the run on behalf of the server, as soon as its input is in the state. */
  handBackWithInput(): void {
    this.#isForInput = true
  }

  /** A superstep of the graph itself has ended, with a state that messages may be added to. */
  restsAt(mayAdd: boolean): void {
    this.#mayAdd = mayAdd
  }

  /** Stops the run on behalf of a node. The name is the engine's. */
  requestDrain(reason = 'shutdown'): void {
    this.#reason = reason
  }

  /** True once the engine has added the input of the run to the state. */
  get hasInput(): boolean {
    return this.#reads >= this.readsForInput
  }

  get drainRequested(): boolean {
    this.#entered()
    this.#reads += 1
    if (this.#isForInput && this.hasInput) this.handBack()
    // Whoever asks next is a subgraph or a node: only the graph itself asks between its supersteps.
    const mayAdd = this.#mayAdd
    this.#mayAdd = false
    if (this.#isForMessages && mayAdd) this.handBack()
    return this.#reason !== undefined
  }

  get drainReason(): string | undefined {
    return this.#reason
  }
}
