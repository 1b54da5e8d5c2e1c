/** Pages in which the rows on the screen lie, and the question for each. */

/** Number of threads on a page. */
export const pageRows = 100

/** The question of one page. */
export interface PageQuestion {
  readonly offset: number
  readonly limit: number
  /** True to ask in the opposite order and to turn the answer round. */
  readonly reversed: boolean
}

/** The pages of rows, the last one included. */
export function pagesOf(first: number, last: number): readonly number[] {
  const from = Math.floor(Math.max(0, first) / pageRows)
  const to = Math.floor(Math.max(0, last) / pageRows)
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

/** A page beyond the middle is asked from the other end: a store skips offsets row by row. */
export function questionOf(page: number, total: number): PageQuestion {
  const from = page * pageRows
  const to = Math.min(total, from + pageRows)
  return from * 2 <= total
    ? { offset: from, limit: pageRows, reversed: false }
    : { offset: total - to, limit: to - from, reversed: true }
}
