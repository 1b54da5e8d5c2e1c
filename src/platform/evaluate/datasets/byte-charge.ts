/** The bytes of one change of a dataset: charged before they are written, and while they stay. */

/** Counts the bytes that were charged and those that were written, for one change of a dataset. */
export class ByteCharge {
  readonly #charge: (bytes: number) => Promise<void>
  #charged = 0
  #written = 0

  constructor(charge: (bytes: number) => Promise<void>) {
    this.#charge = charge
  }

  /** Charges about as many bytes as will be written. Throws `full`. */
  async reserve(bytes: number): Promise<void> {
    await this.#add(bytes)
  }

  /** Call before so many bytes are written. Charges what is missing. Throws `full`. */
  async cover(bytes: number): Promise<void> {
    const missing = this.#written + bytes - this.#charged
    if (missing > 0) await this.#add(missing)
    this.#written += bytes
  }

  /** Call when so many bytes are gone again. */
  removed(bytes: number): void {
    this.#written -= bytes
  }

  /** Gives back what was charged and is not there. */
  async settle(): Promise<void> {
    const spare = this.#charged - this.#written
    if (spare !== 0) await this.#add(-spare).catch(() => undefined)
  }

  async #add(bytes: number): Promise<void> {
    await this.#charge(bytes)
    this.#charged += bytes
  }
}
