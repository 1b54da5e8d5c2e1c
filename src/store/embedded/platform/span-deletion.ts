/** Deletes spans with all that belongs to them, some at a time. */

import type { Env } from '../../../../cluster/index.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Uuid } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import type { FeedbackRows } from '../span-rows/feedback-rows.ts'
import type { FileRows } from '../span-rows/file-rows.ts'
import type { GoneRows } from '../span-rows/gone-rows.ts'
import type { HourRows } from '../span-rows/hour-rows.ts'
import { mixedTerm } from '../span-rows/numbers.ts'
import type { NumberedProject, Numbers } from '../span-rows/numbers.ts'
import { blockIds, bytesOfRow, postArrivalOf, spanColumns, termsOf } from '../span-rows/span-row.ts'
import type { SpanRow } from '../span-rows/span-row.ts'
import { rowBytes } from '../span-rows/tenant-use.ts'
import type { TenantUse } from '../span-rows/tenant-use.ts'

/** Connection and tables from which spans are deleted. */
export interface SpanDeletionParts {
  readonly database: Database
  readonly numbers: Numbers
  readonly hours: HourRows
  readonly feedback: FeedbackRows
  readonly files: FileRows
  readonly gone: GoneRows
  readonly use: TenantUse
  readonly env: Pick<Env, 'nowMs'>
}

/** Rows that were deleted to free space. */
export interface FreedRows {
  readonly rows: number
  /** Number of spans among the rows, and the latest arrival of a post of these spans. */
  readonly spans: number
  readonly arrivedUs: number
}

/** Projects of a tenant that are compared at a time for the oldest span. */
const projectsOf = 500

/**
 * Deletes in the transaction of its caller, and notes the ids of spans that a request removed. Each
 * call returns how many spans it deleted.
 */
export class SpanDeletion {
  readonly #parts: SpanDeletionParts
  /** Project of each tenant behind which the comparison continues. */
  readonly #after = new Map<number, number>()

  constructor(parts: SpanDeletionParts) {
    this.#parts = parts
  }

  /** Deletes spans of a trace that was removed. */
  trace(project: NumberedProject, trace: Uuid, limit: number): number {
    return this.#delete(project, this.#parts.database.prepare<SpanRow>(`
      SELECT ${spanColumns} FROM span WHERE tenant = ? AND trace = ? AND project = ? LIMIT ?
    `).all(project.tenant, bytesOfUuid(trace), project.no, limit))
  }

  /** Deletes the oldest spans of a project that was removed up to a time. */
  older(project: NumberedProject, beforeUs: number, limit: number): number {
    return this.#delete(project, this.#parts.database.prepare<SpanRow>(`
      SELECT ${spanColumns} FROM span INDEXED BY span_start
      WHERE project = ? AND start_us < ? ORDER BY start_us LIMIT ?
    `).all(project.no, beforeUs, limit))
  }

  /** Deletes spans of all projects whose life has ended at a minute since 1970. */
  expired(nowMin: number, limit: number): number {
    const rows = this.#parts.database.prepare<readonly [...SpanRow, project: number]>(`
      SELECT ${spanColumns}, project FROM span INDEXED BY span_expiry
      WHERE expires_min <= ? ORDER BY expires_min LIMIT ?
    `).all(nowMin, limit)
    for (const [no, some] of Map.groupBy(rows, (row) => row.at(-1) as number)) {
      this.#delete(this.#parts.numbers.projectAt(no), some as unknown as readonly SpanRow[])
    }
    return rows.length
  }

  /**
   * Deletes what a tenant has had for the longest time, until that is enough: spans, then feedback
   * and files. Undefined if it has nothing; no rows if it has to be called again.
   */
  oldestOf(tenant: number, limit: number, isEnough: () => boolean): FreedRows | undefined {
    const project = this.#oldestProject(tenant)
    if (project !== undefined) {
      let [spans, arrivedUs] = [0, -Infinity]
      for (const row of this.#first(project, limit)) {
        spans += this.#delete(project, [row])
        arrivedUs = Math.max(arrivedUs, postArrivalOf(row))
        if (isEnough()) break
      }
      return { rows: spans, spans, arrivedUs }
    }
    const none = { rows: 0, spans: 0, arrivedUs: -Infinity }
    if (this.#after.has(tenant)) return none
    const { feedback, files } = this.#parts
    const rows = feedback.deleteSome(tenant, limit) || files.deleteSome(tenant, limit)
    return rows === 0 ? undefined : { ...none, rows }
  }

  /** The spans of a project that arrived first. */
  #first({ no }: NumberedProject, limit: number): readonly SpanRow[] {
    return this.#parts.database.prepare<SpanRow>(`
      SELECT ${spanColumns} FROM span INDEXED BY span_arrival WHERE project = ? ORDER BY no LIMIT ?
    `).all(no, limit)
  }

  /** The project whose first span arrived first: of all, or of the next ones if there are many. */
  #oldestProject(tenant: number): NumberedProject | undefined {
    const { numbers, database } = this.#parts
    const projects = database.prepare<[number, number | null]>(`
      SELECT no, (SELECT min(span.no) FROM span INDEXED BY span_arrival
        WHERE span.project = project.no)
      FROM project WHERE tenant = ? AND no > ? ORDER BY no LIMIT ?
    `).all(tenant, this.#after.get(tenant) ?? 0, projectsOf)
    if (projects.length < projectsOf) this.#after.delete(tenant)
    else this.#after.set(tenant, projects.at(-1)![0])
    const [no] = projects.filter(([, first]) => first !== null)
      .reduce<readonly [number?, (number | null)?]>(
        (oldest, one) => oldest[1] == null || one[1]! < oldest[1] ? one : oldest,
        [],
      )
    return no === undefined ? undefined : numbers.projectAt(no)
  }

  #delete(project: NumberedProject, rows: readonly SpanRow[]): number {
    const { database, hours, feedback, files, gone, use, env } = this.#parts
    const unpost = database.prepare(
      'DELETE FROM posting WHERE term = ? AND start_us = ? AND no = ?',
    )
    const remove = database.prepare('DELETE FROM span WHERE no = ?')
    const traces = new Map<string, Uint8Array>()
    const isGone = gone.test()
    for (const row of rows) {
      const [no, id, startUs, trace] = row
      // Also of a span that is deleted for another reason, after the request was noted.
      const isOlder = startUs < project.goneUs
      const isRequested = isOlder || isGone(project, uuidOfBytes(trace))
      use.add(project.tenant, -bytesOfRow(row))
      for (const term of termsOf(row[21]).slice(0, row[24] ?? 0)) {
        unpost.run(mixedTerm(term, project.no), startUs, no)
      }
      files.deleteOfSpan(project, uuidOfBytes(id))
      remove.run(no)
      feedback.deleteOfSpan(project, id)
      if (isRequested) feedback.deleteTokensOf(project.tenant, id)
      // The note of a trace also covers its root.
      const isNoted = isOlder || (isRequested && Buffer.compare(id, trace) !== 0)
      if (isNoted) gone.noteId(project.tenant, id, env.nowMs() * 1_000)
      hours.shrink(project.no, startUs)
      traces.set(Buffer.from(trace).toString('latin1'), trace)
    }
    for (const trace of traces.values()) this.#deletePayload(project, trace)
    return rows.length
  }

  /**
   * Deletes the blocks of a trace when a project has no span of it any more: all blocks, with the
   * files, or the blocks that no span of another project needs.
   */
  #deletePayload({ tenant, no }: NumberedProject, trace: Uint8Array): void {
    const { database, files, use } = this.#parts
    const hasSpans = database.prepare(
      'SELECT 1 FROM span WHERE tenant = ? AND trace = ? AND project = ? LIMIT 1',
    )
    if (hasSpans.get(tenant, trace, no) !== undefined) return
    const others = database.prepare<[Uint8Array | null]>(
      'SELECT blocks FROM span WHERE tenant = ? AND trace = ?',
    ).all(tenant, trace)
    // Longer numbers than those of JSON in JavaScript.
    const needed = [...new Set(others.flatMap(([blocks]) => blockIds(blocks)))].join(',')
    const blocks = database.prepare<[number]>(`
      DELETE FROM block WHERE tenant = ? AND trace = ?
        AND id NOT IN (SELECT value FROM json_each(?))
      RETURNING octet_length(data)
    `).all(tenant, trace, `[${needed}]`)
    for (const [bytes] of blocks) use.add(tenant, -(rowBytes.block + bytes))
    if (others.length === 0) files.deleteOfTrace(tenant, trace)
  }
}
