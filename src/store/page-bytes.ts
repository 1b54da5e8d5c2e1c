/** Counts the bytes of a page of rows, and refuses a page with more than it may have. */

import { HeddleError } from '../errors.ts'

/** Counts one page. Without `most` it counts only. */
export class PageBytes {
  readonly #most: number
  #bytes = 0

  constructor(most = Number.MAX_SAFE_INTEGER) {
    this.#most = most
  }

  /** Counts parts of a row. Throws `too_large`, with the bytes counted so far in its details. */
  add(...parts: readonly { readonly length: number }[]): void {
    for (const { length } of parts) this.#bytes += length
    if (this.#bytes <= this.#most) return
    throw new HeddleError('too_large', 'The rows of this page take more memory than they may.', {
      bytes: this.#bytes,
    })
  }
}
