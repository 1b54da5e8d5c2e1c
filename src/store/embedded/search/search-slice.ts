/** How long a search through documents continues before other searches have their turn. */

import type { SizedRow } from './stored-row.ts'

/** What such a search finds: where the rows of its page are, and how many match. */
export interface Documents {
  readonly sizes: readonly SizedRow[]
  readonly total: number
}

/** Measured: a slice takes a few milliseconds. */
const sliceCharacters = 256 * 1024
/** A document counts as so much at least: reading its row takes time as well. */
const leastCharacters = 512

export class Slice {
  #characters = 0

  /** Counts the next document. Whether the slice ends with it. */
  ends(document: string): boolean {
    this.#characters += Math.max(leastCharacters, document.length)
    if (this.#characters < sliceCharacters) return false
    this.#characters = 0
    return true
  }
}
