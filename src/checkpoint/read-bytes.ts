/** Bound on the bytes of a read of the log, counted row by row, the same in every store. */

import { HeddleError } from '../errors.ts'
import type { LogRange } from './log-port.ts'

/** Counts the rows of one read. */
export class ReadBytes {
  readonly #bytesMax: number
  readonly #bodyMax: number
  #bytes = 0
  #rows = 0

  constructor(
    { bytes = Number.MAX_SAFE_INTEGER, bodyBytes = Number.MAX_SAFE_INTEGER }: Pick<LogRange,
      'bytes' | 'bodyBytes'>,
  ) {
    this.#bytesMax = bytes
    this.#bodyMax = bodyBytes
  }

  /** Bytes of a body above which it is returned, if at all, as the only one. */
  get wanted(): number {
    return Math.min(this.#bytesMax, this.#bodyMax)
  }

  /**
   * True if the next row belongs to what is returned; otherwise the read ends there. Throws
   * `too_large` if the first row has more bytes than may be read.
   */
  takes(bytes: number): boolean {
    if (this.#rows === 0 && bytes > this.#bodyMax) {
      throw new HeddleError('too_large', `A row of the log has ${bytes} bytes.`, { bytes })
    }
    this.#rows += 1
    this.#bytes += bytes
    return this.#rows === 1 || (this.#bytes <= this.#bytesMax && bytes <= this.#bodyMax)
  }
}
