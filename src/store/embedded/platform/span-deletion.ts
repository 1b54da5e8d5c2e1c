/** Deletes spans with all that belongs to them, some at a time. */

import { bytesOfUuid } from '../../../platform/index.ts'
import type { Uuid } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import type { FeedbackRows } from './feedback-rows.ts'
import { hourUs } from './hour-rows.ts'
import type { HourRows } from './hour-rows.ts'
import { mixedTerm } from './numbers.ts'
import type { NumberedProject } from './numbers.ts'
import { termsOf } from './span-row.ts'

/** What a deletion works with. */
export interface SpanDeletionParts {
  readonly database: Database
  readonly hours: HourRows
  readonly feedback: FeedbackRows
}

type Row = readonly [no: number, startUs: number, id: Uint8Array, trace: Uint8Array,
  terms: Uint8Array | null, posted: number | null]

const columns = 'no, start_us, id, trace, terms, posted'

/** Deletes in the transaction of its caller. Each call returns how many spans it deleted. */
export class SpanDeletion {
  readonly #parts: SpanDeletionParts

  constructor(parts: SpanDeletionParts) {
    this.#parts = parts
  }

  /** Deletes spans of a trace. */
  trace(project: NumberedProject, trace: Uuid, limit: number): number {
    return this.#delete(project, this.#parts.database.prepare<Row>(`
      SELECT ${columns} FROM span WHERE tenant = ? AND trace = ? AND project = ? LIMIT ?
    `).all(project.tenant, bytesOfUuid(trace), project.no, limit))
  }

  /** Deletes the oldest spans of a project that began before. */
  older(project: NumberedProject, beforeUs: number, limit: number): number {
    return this.#delete(project, this.#parts.database.prepare<Row>(`
      SELECT ${columns} FROM span INDEXED BY span_start
      WHERE project = ? AND start_us < ? ORDER BY start_us LIMIT ?
    `).all(project.no, beforeUs, limit))
  }

  /** Deletes the spans of the hour that follows the oldest span of all projects. */
  oldest(projects: Iterable<NumberedProject>, limit: number): number {
    const start = this.#parts.database.prepare<[number]>(`
      SELECT start_us FROM span INDEXED BY span_start WHERE project = ? ORDER BY start_us LIMIT 1
    `)
    let oldest: { readonly project: NumberedProject; readonly startUs: number } | undefined
    for (const project of projects) {
      const startUs = start.get(project.no)?.[0]
      if (startUs === undefined || oldest !== undefined && oldest.startUs <= startUs) continue
      oldest = { project, startUs }
    }
    return oldest === undefined ? 0 : this.older(oldest.project, oldest.startUs + hourUs, limit)
  }

  /** Deletes the oldest files and feedback, which may belong to no span. */
  oldestRest(limit: number): number {
    const { database } = this.#parts
    const oldest = (table: string) =>
      Number(database.prepare(`DELETE FROM ${table} WHERE no IN (
        SELECT no FROM ${table} ORDER BY no LIMIT ?)`).run(limit).changes)
    return oldest('file') || oldest('feedback')
  }

  #delete(project: NumberedProject, rows: readonly Row[]): number {
    const { database, hours, feedback } = this.#parts
    const unpost = database.prepare(
      'DELETE FROM posting WHERE term = ? AND start_us = ? AND no = ?',
    )
    const unfile = database.prepare('DELETE FROM file WHERE tenant = ? AND owner = ?')
    const remove = database.prepare('DELETE FROM span WHERE no = ?')
    const traces = new Map<string, Uint8Array>()
    for (const [no, startUs, id, trace, terms, posted] of rows) {
      for (const term of termsOf(terms).slice(0, posted ?? 0)) {
        unpost.run(mixedTerm(term, project.no), startUs, no)
      }
      feedback.deleteOfSpan(project.tenant, id)
      unfile.run(project.tenant, id)
      remove.run(no)
      hours.touch(project.no, startUs)
      traces.set(Buffer.from(trace).toString('latin1'), trace)
    }
    for (const trace of traces.values()) this.#deletePayload(project.tenant, trace)
    return rows.length
  }

  /** Deletes blocks and files of a trace that has no spans in any project. */
  #deletePayload(tenant: number, trace: Uint8Array): void {
    const { database } = this.#parts
    const hasSpans = database.prepare('SELECT 1 FROM span WHERE tenant = ? AND trace = ? LIMIT 1')
    if (hasSpans.get(tenant, trace) !== undefined) return
    for (const table of ['block', 'file']) {
      database.prepare(`DELETE FROM ${table} WHERE tenant = ? AND trace = ?`).run(tenant, trace)
    }
  }
}
