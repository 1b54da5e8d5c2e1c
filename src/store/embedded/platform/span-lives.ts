/**
 * Ends of life of spans, each in the row of its span: computed when an operation is written, and
 * written again when the life of the spans of a project changes.
 */

import type { Env } from '../../../../cluster/index.ts'
import { LRUCache } from '../../../../cluster/index.ts'
import { clocksApartMs } from '../../../limits/index.ts'
import type { Database } from '../file/database.ts'
import type { NumberedProject, Numbers } from '../span-rows/numbers.ts'
import { arrivalOf, spanColumns } from '../span-rows/span-row.ts'
import type { SpanRow } from '../span-rows/span-row.ts'

/** Minute of spans that are kept until they are deleted: no write specified their life. */
const never = 2 ** 40

const minuteUs = 60_000_000
/**
 * Time after a change in which writes with another life are ignored, because their requests
 * started before the change. Later ones change the life: only their catalog knows the project.
 */
const settlesMs = 10 * 60_000
/** Projects whose last change is remembered. */
const changesMax = 10_000

/** Connection, tables and clock of the ends of life. */
export interface SpanLivesParts {
  readonly database: Database
  readonly numbers: Numbers
  /** Its clock must not jump ahead. */
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs'>
}

/** The ends of life in one file, for the thread that writes. */
export class SpanLives {
  readonly #parts: SpanLivesParts
  readonly #changedMs = new LRUCache<number, number>({ max: changesMax })
  /** The last end that was compared with the clock; undefined once all ends were. */
  #comparedEnd: { readonly min: number; readonly no: number } | undefined

  constructor(parts: SpanLivesParts) {
    this.#parts = parts
    const [shortestS] = parts.database.prepare<[number | null]>('SELECT min(life_s) FROM project')
      .get() ?? []
    this.#comparedEnd = { min: this.endOf(Infinity, shortestS ?? 0), no: 0 }
  }

  /** Minutes since 1970 after which a span is deleted whose last operation arrived at a time. */
  endOf(arrivedUs: number, lifeS: number | null): number {
    if (lifeS === null) return never
    const fromUs = Math.min(arrivedUs, this.#parts.env.nowMs() * 1_000)
    return Math.ceil((fromUs + lifeS * 1e6) / minuteUs)
  }

  /** The project with the life that a write specifies for it, if that may still change it. */
  ofWrite(project: NumberedProject, lifeS: number | undefined): NumberedProject {
    if (lifeS === undefined || lifeS === project.lifeS) return project
    const sinceMs = this.#parts.env.monotonicMs() - (this.#changedMs.get(project.no) ?? -Infinity)
    return sinceMs < settlesMs ? project : this.change(project, lifeS)
  }

  /** Changes the life of all spans of a project: of new ones at once, of others in slices. */
  change(project: NumberedProject, lifeS: number): NumberedProject {
    const { database, numbers, env } = this.#parts
    this.#changedMs.set(project.no, env.monotonicMs())
    if (project.lifeS === lifeS) return project
    database.prepare('INSERT OR REPLACE INTO life_change VALUES (?, ?, ?)')
      .run(project.no, Number.MIN_SAFE_INTEGER, new Uint8Array())
    return numbers.setLife(project, lifeS)
  }

  /** Writes the ends of some spans. Returns false if all spans have theirs. */
  rewriteSome(limit: number): boolean {
    return this.#continueChange(limit) || this.#adopt(limit) || this.#repair(limit)
  }

  /** Continues a change behind the last span that it has written. */
  #continueChange(limit: number): boolean {
    const { database, numbers } = this.#parts
    const [no, afterUs, afterId] = database.prepare<[number, number, Uint8Array]>(
      'SELECT project, after_us, after_id FROM life_change LIMIT 1',
    ).get() ?? []
    if (no === undefined) return false
    const rows = database.prepare<SpanRow>(`
      SELECT ${spanColumns} FROM span INDEXED BY span_start
      WHERE project = ? AND (start_us, id) > (?, ?) ORDER BY start_us, id LIMIT ?
    `).all(no, afterUs!, afterId!, limit)
    this.#writeEnds(numbers.projectAt(no), rows)
    const last = rows.length < limit ? undefined : rows.at(-1)
    if (last === undefined) database.prepare('DELETE FROM life_change WHERE project = ?').run(no)
    else {
      database.prepare('UPDATE life_change SET after_us = ?, after_id = ? WHERE project = ?')
        .run(last[2], last[1], no)
    }
    return true
  }

  /** Sets the ends of life of spans that earlier programs wrote. */
  #adopt(limit: number): boolean {
    const { database, numbers } = this.#parts
    const rows = database.prepare<readonly [...SpanRow, project: number]>(`
      SELECT ${spanColumns}, project FROM span INDEXED BY span_expiry
      WHERE expires_min IS NULL LIMIT ?
    `).all(limit)
    for (const [no, some] of Map.groupBy(rows, (row) => row.at(-1) as number)) {
      this.#writeEnds(numbers.projectAt(no), some as unknown as readonly SpanRow[])
    }
    return rows.length > 0
  }

  /**
   * Sets ends that no span can have by now: an earlier process computed them under a clock that was
   * ahead. Ends from before the shortest life are not read.
   */
  #repair(limit: number): boolean {
    if (this.#comparedEnd === undefined) return false
    const { database, numbers, env } = this.#parts
    const { min, no } = this.#comparedEnd
    const rows = database.prepare<readonly [...SpanRow, project: number, end: number]>(`
      SELECT ${spanColumns}, project, expires_min FROM span INDEXED BY span_expiry
      WHERE (expires_min, no) > (?, ?) AND expires_min < ${never} ORDER BY expires_min, no LIMIT ?
    `).all(min, no, limit)
    const last = rows.length < limit ? undefined : rows.at(-1)
    this.#comparedEnd = last && { min: last.at(-1) as number, no: last[0] }
    const latestMin = (lifeS: number) =>
      Math.ceil((env.nowMs() * 1_000 + clocksApartMs * 1_000 + lifeS * 1e6) / minuteUs)
    for (const [projectNo, some] of Map.groupBy(rows, (row) => row.at(-2) as number)) {
      const project = numbers.projectAt(projectNo)
      const wrong = some.filter((row) =>
        project.lifeS !== null && (row.at(-1) as number) > latestMin(project.lifeS)
      )
      this.#writeEnds(project, wrong as unknown as readonly SpanRow[])
    }
    return rows.length > 0
  }

  #writeEnds({ lifeS }: NumberedProject, rows: readonly SpanRow[]): void {
    const put = this.#parts.database.prepare('UPDATE span SET expires_min = ? WHERE no = ?')
    for (const row of rows) put.run(this.endOf(arrivalOf(row), lifeS), row[0])
  }
}
