/** How many bytes a read of the log may return: counted row by row, the same in every store. */

import { HeddleError } from '../errors.ts'
import type { LogRange } from './log-port.ts'

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

  /** A body that has more bytes is returned, if at all, as the only one. */
  get wanted(): number {
    return Math.min(this.#bytesMax, this.#bodyMax)
  }

  /**
   * Whether the next row belongs to what is returned: if not, it ends there. Throws `too_large` if
   * the first one has more bytes than may be read.
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
