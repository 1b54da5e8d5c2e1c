/** Counts the bytes of a page of rows, and refuses it once it has more than it may have. */

import { HeddleError } from '../errors.ts'

export class PageBytes {
  readonly #most: number
  #bytes = 0

  constructor(most = Number.MAX_SAFE_INTEGER) {
    this.#most = most
  }

  /** Throws `too_large`, with all of them so far as the fact `bytes`. */
  add(...parts: readonly { readonly length: number }[]): void {
    for (const { length } of parts) this.#bytes += length
    if (this.#bytes <= this.#most) return
    throw new HeddleError('too_large', 'The rows of this page take more memory than they may.', {
      bytes: this.#bytes,
    })
  }
}
