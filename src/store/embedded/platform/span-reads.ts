/** Reads spans by their ids and traces, and blocks and files. */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { BlockId, SpanHead, SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import type { NumberedSpan } from '../words/word-indexer.ts'
import type { NumberedProject, Numbers } from '../span-rows/numbers.ts'
import { headOf, spanColumns } from '../span-rows/span-row.ts'
import type { SpanRow } from '../span-rows/span-row.ts'

/** Spans of a slice. */
const sliceOf = 500

type PlaceRow = readonly [project: Uint8Array, startUs: number, trace: Uint8Array, traceUs: number]

/** Reads of spans over one connection. */
export class SpanReads {
  readonly #database: Database
  readonly #numbers: Numbers

  constructor(database: Database, numbers: Numbers) {
    this.#database = database
    this.#numbers = numbers
  }

  /** All places of spans that are known, the oldest projects first. */
  *locate(tenant: string, ids: readonly Uuid[]): Iterable<SpanPlace> {
    const number = this.#numbers.tenant(tenant)
    if (number === undefined) return
    const find = this.#database.prepare<PlaceRow>(`
      SELECT project.id, start_us, trace, trace_us
      FROM span CROSS JOIN project ON project.no = span.project
      WHERE span.tenant = ? AND span.id = ? AND start_us >= gone_us
      ORDER BY span.project
    `)
    for (const id of ids) {
      for (const [project, startUs, trace, traceUs] of find.all(number, bytesOfUuid(id))) {
        yield { tenant, project: uuidOfBytes(project), startUs, id, trace: uuidOfBytes(trace),
          traceStartUs: startUs + traceUs }
      }
    }
  }

  /** The head at a place, if it is there. */
  head({ tenant, project: projectId, id }: SpanPlace): SpanHead | undefined {
    const project = this.project(tenant, projectId)
    const row = project && this.#database.prepare<SpanRow>(`
      SELECT ${spanColumns} FROM span
      WHERE tenant = ? AND id = ? AND project = ? AND start_us >= ?
    `).get(project.tenant, bytesOfUuid(id), project.no, project.goneUs)
    return row && headOf(row, tenant, projectId)
  }

  /** The heads of a trace by start, then id, in slices. */
  *trace({ tenant, project: projectId, trace }: SpanPlace): Iterable<readonly SpanHead[]> {
    const project = this.project(tenant, projectId)
    if (project === undefined) return
    const numbers = this.#database.prepare<[number]>(`
      SELECT no FROM span INDEXED BY span_trace
      WHERE tenant = ? AND trace = ? AND project = ? AND start_us >= ? ORDER BY start_us, id
    `).all(project.tenant, bytesOfUuid(trace), project.no, project.goneUs).map(([no]) => no)
    // Numbers of deleted spans are given again, so the rows say once more whose they are.
    const find = this.#database.prepare<SpanRow>(`
      SELECT ${spanColumns} FROM span
      WHERE no IN (SELECT value FROM json_each(?)) AND +project = ? AND +trace = ?
    `)
    for (let at = 0; at < numbers.length; at += sliceOf) {
      const slice = numbers.slice(at, at + sliceOf)
      const rows = find.all(JSON.stringify(slice), project.no, bytesOfUuid(trace))
      // Quicker than to let SQLite sort rows as wide as these.
      const byNumber = new Map(rows.map((row) => [row[0], row]))
      yield slice.flatMap((no) => {
        const row = byNumber.get(no)
        return row === undefined ? [] : [headOf(row, tenant, projectId)]
      })
    }
  }

  /** The data of the blocks that are there. */
  *blocks({ tenant, trace }: Pick<SpanPlace, 'tenant' | 'trace'>,
    ids: readonly BlockId[]): Iterable<readonly [BlockId, Uint8Array]> {
    const number = this.#numbers.tenant(tenant)
    if (number === undefined) return
    const find = this.#database.prepare<[Uint8Array]>(
      'SELECT data FROM block WHERE tenant = ? AND trace = ? AND id = ?',
    )
    for (const id of ids) {
      const row = find.get(number, bytesOfUuid(trace), id)
      if (row !== undefined) yield [id, row[0]]
    }
  }

  /** The first spans from one number to another. */
  numbered(first: number, last: number, limit: number): readonly NumberedSpan[] {
    return this.#database.prepare<readonly [project: number, tenant: number, ...SpanRow]>(`
      SELECT project, tenant, ${spanColumns} FROM span WHERE no >= ? AND no <= ?
      ORDER BY no LIMIT ?
    `).all(first, last, limit).map(([project, tenant, ...row]) => ({ no: row[0], project, tenant,
      trace: row[3], head: headOf(row, '', '') })
    )
  }

  /** A project that has or had spans. */
  project(tenant: string, id: Uuid): NumberedProject | undefined {
    const number = this.#numbers.tenant(tenant)
    return number === undefined ? undefined : this.#numbers.project(number, id)
  }
}
