/** One page merged from the answers of several indexes, each with a part of all rows. */

import type { IndexAnswer, IndexedRow as Row } from './index-question.ts'
import type { RowOrder } from './row-order.ts'

/** The rows that an index is asked for. */
interface Part {
  readonly offset: number
  readonly limit: number
}

/** Asks an index; undefined if it cannot be reached. */
type Source = (part: Part) => Promise<IndexAnswer | undefined>

/** The page to make, and the indexes that have its rows. */
export interface MergeOptions {
  /** The page, among the rows of all indexes. */
  readonly query: Part
  readonly order: RowOrder<Row>
  readonly shards: number
  readonly sources: readonly Source[]
}

/** Rows that are read from a source at a time. It bounds the memory of a page far behind. */
const rowsAtOnce = 1_000

/** The answers, if together they cover every shard exactly once; otherwise undefined. */
export function wholeOf<Answer extends Pick<IndexAnswer, 'covered'>>(
  answers: readonly (Answer | undefined)[],
  shards: number,
): readonly Answer[] | undefined {
  const given = answers.filter((answer) => answer !== undefined)
  const covered = given.flatMap((answer) => answer.covered)
  return covered.length === shards && new Set(covered).size === shards ? given : undefined
}

/**
 * Merges a page. Undefined unless every shard was covered exactly once, from the beginning to the
 * end.
 */
export async function mergePage(
  { query, order, shards, sources }: MergeOptions,
): Promise<Pick<IndexAnswer, 'rows' | 'total'> | undefined> {
  const end = query.offset + query.limit
  const limit = Math.min(end, rowsAtOnce)
  const first = await Promise.all(sources.map(async (source) => {
    const answer = await source({ offset: 0, limit })
    return answer && { ...answer, source }
  }))
  const whole = wholeOf(first, shards)
  if (whole === undefined) return undefined
  const readers = whole.map((answer) => new Reader(answer.source, answer, limit))
  const rows: Row[] = []
  for (let index = 0; index < end; index++) {
    for (const reader of readers) if (reader.ended && !await reader.readOn()) return undefined
    const row = nextOf(readers, order)
    if (row === undefined) break
    if (index >= query.offset) rows.push(row)
  }
  return { rows, total: whole.reduce((sum, { total }) => sum + total, 0) }
}

function nextOf(readers: readonly Reader[], order: RowOrder<Row>): Row | undefined {
  const full = readers.filter(({ row }) => row !== undefined)
  if (full.length === 0) return undefined
  const next = full.reduce((best, each) => (order(each.row!, best.row!) < 0 ? each : best))
  return next.take()
}

/** The rows of one source, in their order. */
class Reader {
  readonly #source: Source
  readonly #limit: number
  readonly #covered: readonly number[]
  #rows: readonly Row[]
  #at = 0
  #read: number
  #more: boolean

  constructor(source: Source, { rows, covered }: IndexAnswer, limit: number) {
    this.#source = source
    this.#limit = limit
    this.#covered = covered
    this.#rows = rows
    this.#read = rows.length
    this.#more = rows.length === limit
  }

  /** The next row; undefined if there is none, or if it was not read yet (`ended`). */
  get row(): Row | undefined {
    return this.#rows[this.#at]
  }

  /** True if all rows that were read are used, and there may be more. */
  get ended(): boolean {
    return this.#more && this.#at === this.#rows.length
  }

  take(): Row {
    return this.#rows[this.#at++]!
  }

  /** Reads more rows. False if the source cannot be reached, or covers other shards than before. */
  async readOn(): Promise<boolean> {
    const answer = await this.#source({ offset: this.#read, limit: this.#limit })
    if (!answer || !isSame(answer.covered, this.#covered)) return false
    this.#rows = answer.rows
    this.#at = 0
    this.#read += answer.rows.length
    this.#more = answer.rows.length === this.#limit
    return true
  }
}

function isSame(covered: readonly number[], before: readonly number[]): boolean {
  const known = new Set(before)
  return covered.length === before.length && covered.every((shard) => known.has(shard))
}
