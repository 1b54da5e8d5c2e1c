/** Slices of a search through documents: after each, other searches have their turn. */

import { isMatch } from './metadata-tokens.ts'
import type { MetadataConditions } from './metadata-tokens.ts'
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

/** A row that may match: its number, the bytes of all that is read of it, and its metadata. */
export type CandidateRow = readonly [no: number, bytes: number, json: string]

/** Conditions on metadata, and the page that is wanted. */
interface MetadataPage extends MetadataConditions {
  readonly limit: number
  readonly offset: number
}

/** Finds the rows whose metadata match, in the order of the candidates. Stops after each slice. */
export function* matching(candidates: Iterable<CandidateRow>,
  page: MetadataPage): Generator<void, Documents, void> {
  const sizes: SizedRow[] = []
  let total = 0
  const slice = new Slice()
  for (const [no, bytes, document] of candidates) {
    if (isMatch(document, page)) {
      if (total >= page.offset && sizes.length < page.limit) sizes.push([no, bytes])
      total++
    }
    if (slice.ends(document)) yield
  }
  return { sizes, total }
}
