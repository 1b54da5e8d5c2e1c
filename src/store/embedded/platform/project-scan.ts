/**
 * Scans one project. A window is what one turn looks at. Its last span is always among its heads,
 * also if it does not meet the conditions, so that whoever stops there knows where to go on.
 */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Plan, ScanMark, SpanHead, Term } from '../../../platform/index.ts'
import type { Database, Value } from '../file/database.ts'
import { mixedTerm } from '../span-rows/numbers.ts'
import type { NumberedProject } from '../span-rows/numbers.ts'
import { conditionsOf } from './scan-conditions.ts'
import type { Conditions } from './scan-conditions.ts'
import { headOf, spanColumns } from '../span-rows/span-row.ts'
import type { SpanRow } from '../span-rows/span-row.ts'
import { WordReads } from '../words/word-index.ts'
import type { WordCandidate } from '../words/word-index.ts'

/** Spans that were looked at together, and the heads among them, in the order of the plan. */
export interface ScanWindow {
  readonly heads: readonly SpanHead[]
  readonly looked: number
}

/** Spans that a window looks at. */
const windowMax = 500
/**
 * Spans with the words of a question that are looked at first; with more, some spans are looked at
 * by their start, because a page of common words is full soon; then up to so many more with them.
 */
const [candidatesMax, lookedMax, manyMax] = [8_000, 2_000, 50_000]
/** Nothing was found yet, and others may have a turn. */
const pause: ScanWindow = { heads: [], looked: 0 }
/** Postings up to which they are counted to find the rarest term. */
const countMax = 1_000

/** A position: before all ids of a start, or behind one of them. */
interface Position {
  readonly us: number
  readonly id: Uint8Array
}

type Posting = readonly [startUs: number, no: number]

/** Plan, project and start of a scan. */
export interface ProjectScanOptions {
  readonly database: Database
  readonly plan: Plan
  readonly project: NumberedProject
  readonly after: ScanMark | undefined
  /** Spans of the first window; later ones grow. */
  readonly firstWindow: number
}

/** The scan of one project. Its statements are its own, because their texts are too many. */
export class ProjectScan {
  readonly #database: Database
  readonly #plan: Plan
  readonly #project: NumberedProject
  readonly #conditions: Conditions
  readonly #after: ScanMark | undefined
  readonly #fromUs: number
  readonly #toUs: number
  #size: number

  constructor({ database, plan, project, after, firstWindow }: ProjectScanOptions) {
    this.#database = database
    this.#plan = plan
    this.#project = project
    this.#conditions = conditionsOf(plan)
    this.#after = after
    this.#fromUs = Math.max(plan.fromUs, project.goneUs)
    this.#toUs = Math.min(plan.toUs, Number.MAX_SAFE_INTEGER)
    this.#size = firstWindow
  }

  /** The windows in the order of the plan. Others have a turn after each that is empty. */
  *windows(): Iterable<ScanWindow> {
    const candidates = yield* this.#candidates(candidatesMax)
    if (candidates !== undefined) return yield* this.#byNumbers(candidates, this.#after)
    const term = this.#rarestTerm()
    if (term !== undefined) return yield* this.#byPostings(term)
    const { rootsOnly } = this.#plan
    const rest = this.#byStart({ index: rootsOnly ? 'span_root' : 'span_start',
      begin: this.#begin(), fromUs: this.#fromUs, toUs: this.#toUs })[Symbol.iterator]()
    let [after, looked] = [this.#after, 0]
    while (looked < lookedMax) {
      const { value, done } = rest.next()
      if (done) return
      yield value
      looked += value.looked
      after = value.heads.at(-1) ?? after
    }
    const many = yield* this.#candidates(manyMax)
    if (many !== undefined) return yield* this.#byNumbers(many, after)
    for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
  }

  /** Spans that may have the words of the plan. Undefined if there are none, or too many. */
  *#candidates(max: number): Generator<ScanWindow, readonly WordCandidate[] | undefined, void> {
    const { words = [] } = this.#plan
    if (words.length === 0) return undefined
    const bounds = { project: this.#project.no, fromUs: this.#fromUs, toUs: this.#toUs }
    const reads = new WordReads(this.#database).candidates(bounds, words, max)
    for (;;) {
      const next = reads.next()
      if (next.done) return next.value
      yield pause
    }
  }

  get #isNewest(): boolean {
    return this.#plan.order === 'newest'
  }

  #begin(): Position {
    const after = this.#after
    const us = this.#isNewest ? this.#toUs : this.#fromUs
    if (after === undefined) return { us, id: new Uint8Array() }
    const isInside = this.#isNewest ? after.startUs < us : after.startUs >= us
    return isInside
      ? { us: after.startUs, id: bytesOfUuid(after.id) }
      : { us, id: new Uint8Array() }
  }

  /** The term with the fewest postings; undefined if the plan has no terms. */
  #rarestTerm(): Term | undefined {
    const count = this.#database.prepare<[number]>(`
      SELECT count(*) FROM (SELECT 1 FROM posting
        WHERE term = ? AND start_us >= ? AND start_us < ? LIMIT ?)
    `)
    let rarest: Term | undefined
    let least = countMax
    for (const term of this.#plan.terms) {
      const mixed = mixedTerm(term, this.#project.no)
      // Of terms that all spans have, the first is as good as any.
      const [found] = count.get(mixed, this.#fromUs, this.#toUs, least)!
      if (rarest === undefined || found < least) [rarest, least] = [mixed, found]
    }
    return rarest
  }

  /** Windows in the order of an index of project, start and id. */
  *#byStart(
    { index, begin, fromUs, toUs }: { readonly index: string; readonly begin: Position;
      readonly fromUs: number; readonly toUs: number },
  ): Iterable<ScanWindow> {
    const [side, direction] = this.#isNewest ? ['<', 'DESC'] : ['>', 'ASC']
    const isRoot = index === 'span_root' ? ' AND root = 1' : ''
    const rest = `project = ? AND (start_us, id) ${side} (?, ?) AND start_us ${
      this.#isNewest ? '>= ?' : '< ?'
    }${isRoot}`
    const order = `ORDER BY start_us ${direction}, id ${direction}`
    const table = `span INDEXED BY ${index}`
    const edge = this.#database.prepareOnce<[number, Uint8Array]>(
      `SELECT start_us, id FROM ${table} WHERE ${rest} ${order} LIMIT 1 OFFSET ?`,
    )
    const count = this.#database.prepareOnce<[number]>(
      `SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${rest} ${order} LIMIT ?)`,
    )
    const select = this.#database.prepareOnce<SpanRow>(`
      SELECT ${spanColumns} FROM ${table} WHERE project = ? AND (start_us, id) ${side} (?, ?)
        AND (start_us, id) ${this.#isNewest ? '>=' : '<='} (?, ?)${isRoot}
        ${this.#orLast('start_us = ? AND id = ?')} ${order}
    `)
    let from = begin
    for (;;) {
      const limit = this.#nextSize()
      const values: Value[] = [this.#project.no, from.us, from.id]
      const bound = this.#isNewest ? fromUs : toUs
      const last = edge.get(...values, bound, limit - 1)
      const looked = last === undefined ? count.get(...values, bound, limit)![0] : limit
      const end = last ?? [bound, new Uint8Array()]
      const rows = select.all(...values, ...end, ...this.#conditions.values,
        ...this.#conditions.sql === '' ? [] : end)
      if (looked > 0) yield { heads: this.#heads(rows), looked }
      if (last === undefined) return
      from = { us: last[0], id: last[1] }
    }
  }

  /** Windows in the order of the postings of a term. */
  *#byPostings(term: Term): Iterable<ScanWindow> {
    const find = this.#database.prepare<Posting>(`
      SELECT start_us, no FROM posting WHERE term = ? AND start_us >= ? AND start_us < ?
      ORDER BY start_us ${this.#isNewest ? 'DESC, no DESC' : ', no'} LIMIT ?
    `)
    // Numbers of deleted spans are given again: a row says once more whose it is.
    const select = this.#database.prepareOnce<SpanRow>(`
      SELECT ${spanColumns} FROM span
      WHERE no IN (SELECT value FROM json_each(?)) AND +project = ? ${this.#orLast('no = ?')}
    `)
    let [fromUs, toUs] = [this.#fromUs, this.#toUs]
    const begin = this.#begin()
    if (begin.id.byteLength > 0) {
      yield* this.#atStart(begin)
      if (this.#isNewest) toUs = begin.us
      else fromUs = begin.us + 1
    }
    for (;;) {
      const size = this.#nextSize()
      const found = find.all(term, fromUs, toUs, size + 1)
      const next = found.length > size ? found.at(-1)![0] : undefined
      // All spans of a start are together, so that their ids can decide.
      const postings = found.filter(([us]) => us !== next)
      if (postings.length > 0) {
        const numbers = postings.map(([, no]) => no)
        const last = this.#lastOf(postings)
        const rows = select.all(JSON.stringify(numbers), this.#project.no,
          ...this.#conditions.values, last)
        yield { heads: this.#sorted(rows), looked: numbers.length }
        const us = postings.at(-1)![0]
        if (this.#isNewest) toUs = us
        else fromUs = us + 1
      } else if (next !== undefined) {
        // More spans began at the same moment than a window has.
        yield* this.#atStart({ us: next, id: new Uint8Array() })
        if (this.#isNewest) toUs = next
        else fromUs = next + 1
      }
      if (next === undefined) return
    }
  }

  /** Spans that were found by their words. */
  *#byNumbers(found: readonly WordCandidate[], after: ScanMark | undefined): Iterable<ScanWindow> {
    const marks = found.map(([no, startUs, id]) => ({ no, startUs, id: uuidOfBytes(id) }))
      .filter((mark) => after === undefined || scanOrder(this.#plan.order, after, mark) < 0)
      .toSorted((a, b) => scanOrder(this.#plan.order, a, b))
    const select = this.#database.prepareOnce<SpanRow>(`
      SELECT ${spanColumns} FROM span
      WHERE no IN (SELECT value FROM json_each(?)) AND +project = ? ${this.#orLast('no = ?')}
    `)
    for (let at = 0; at < marks.length;) {
      const some = marks.slice(at, at + this.#nextSize())
      at += some.length
      const rows = select.all(JSON.stringify(some.map(({ no }) => no)), this.#project.no,
        ...this.#conditions.values, ...this.#conditions.sql === '' ? [] : [some.at(-1)!.no])
      yield { heads: this.#sorted(rows), looked: some.length }
    }
  }

  /** The spans of one start that come after a position, by their ids. */
  #atStart({ us, id }: Position): Iterable<ScanWindow> {
    // Behind all ids of the start: there is none above.
    const begin = id.byteLength === 0 && this.#isNewest ? { us: us + 1, id } : { us, id }
    return this.#byStart({ index: 'span_start', begin, fromUs: Math.max(us, this.#fromUs),
      toUs: Math.min(us + 1, this.#toUs) })
  }

  /** The span that is last in the order of the plan. */
  #lastOf(postings: readonly Posting[]): number {
    const us = postings.at(-1)![0]
    const numbers = postings.filter(([startUs]) => startUs === us).map(([, no]) => no)
    if (numbers.length === 1) return numbers[0]!
    return this.#database.prepare<[number]>(`
      SELECT no FROM span WHERE no IN (SELECT value FROM json_each(?))
      ORDER BY id ${this.#isNewest ? 'ASC' : 'DESC'} LIMIT 1
    `).get(JSON.stringify(numbers))?.[0] ?? numbers[0]!
  }

  /** The conditions as a part of a statement that lets the last span through as well. */
  #orLast(isLast: string): string {
    return this.#conditions.sql === '' ? '' : `AND (${this.#conditions.sql} OR (${isLast}))`
  }

  #nextSize(): number {
    const size = this.#size
    this.#size = Math.min(size * 2, windowMax)
    return size
  }

  #heads(rows: readonly SpanRow[]): readonly SpanHead[] {
    return rows.map((row) => headOf(row, this.#plan.tenant, this.#project.id))
  }

  #sorted(rows: readonly SpanRow[]): readonly SpanHead[] {
    return this.#heads(rows).toSorted((a, b) => scanOrder(this.#plan.order, a, b))
  }
}

/** Compares positions in the order of a plan. */
export function scanOrder(order: Plan['order'], a: ScanMark, b: ScanMark): number {
  const later = a.startUs - b.startUs || (a.id < b.id ? -1 : Number(a.id > b.id))
  return order === 'newest' ? -later : later
}
