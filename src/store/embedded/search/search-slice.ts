/** How long a search through documents continues before other searches have their turn. */

import type { SizedRow } from './stored-row.ts'

/** Result of such a search: where the rows of its page are, and how many rows match. */
export interface Documents {
  readonly sizes: readonly SizedRow[]
  readonly total: number
}

/** Characters of documents in a slice. It takes a few milliseconds (measured). */
const sliceCharacters = 256 * 1024
/** Least weight of a document in characters, as reading its row takes time too. */
const leastCharacters = 512

/** Measures slices of one search. */
export class Slice {
  #characters = 0

  /** Counts the next document. True if the slice ends with it. */
  ends(document: string): boolean {
    this.#characters += Math.max(leastCharacters, document.length)
    if (this.#characters < sliceCharacters) return false
    this.#characters = 0
    return true
  }
}
