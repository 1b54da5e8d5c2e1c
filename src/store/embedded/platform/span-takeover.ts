/**
 * Takes over spans whose project was guessed: a patch came before its post, and named no project.
 * The first operation that knows the project moves the span to its place there, with all that
 * belongs to it. If the guess was right, the start and the trace may still be others.
 */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import type { FileRows } from '../span-rows/file-rows.ts'
import type { HourRows } from '../span-rows/hour-rows.ts'
import { mixedTerm } from '../span-rows/numbers.ts'
import type { NumberedProject } from '../span-rows/numbers.ts'
import type { StoredSpan } from '../span-rows/span-merge.ts'
import { arrivalOf, bytesOfRow, spanColumns, storedSpan } from '../span-rows/span-row.ts'
import type { SpanRow } from '../span-rows/span-row.ts'
import type { TenantUse } from '../span-rows/tenant-use.ts'
import type { SpanLives } from './span-lives.ts'

/** Connection and tables that a move changes. */
export interface TakeoverParts {
  readonly database: Database
  readonly hours: HourRows
  readonly use: TenantUse
  readonly files: FileRows
  readonly lives: Pick<SpanLives, 'endOf'>
}

/** True if a tenant has a span whose project was guessed. */
export function hasGuesses(database: Database, tenant: number): boolean {
  return database.prepare(
    'SELECT 1 FROM span INDEXED BY span_guessed WHERE tenant = ? AND guessed = 1 LIMIT 1',
  ).get(tenant) !== undefined
}

/**
 * Returns the place of a span in a project that an operation named, for an operation whose project
 * was guessed while that operation was on its way. Undefined if there is none.
 */
export function namedPlace(database: Database, tenant: number, place: SpanPlace):
  | SpanPlace
  | undefined {
  const row = database.prepare<
    [project: Uint8Array, startUs: number, trace: Uint8Array, traceUs: number]
  >(`
    SELECT project.id, start_us, trace, trace_us
    FROM span CROSS JOIN project ON project.no = span.project
    WHERE span.tenant = ? AND span.id = ? AND guessed IS NOT 1 AND start_us >= gone_us LIMIT 1
  `).get(tenant, bytesOfUuid(place.id))
  if (row === undefined) return undefined
  const [project, startUs, trace, traceUs] = row
  return { tenant: place.tenant, project: uuidOfBytes(project), startUs, id: place.id,
    trace: uuidOfBytes(trace), traceStartUs: startUs + traceUs }
}

/** Removes the row of a span with a guessed project, and returns the span for its new place. */
export function takeOver({ database, hours, use, files, lives }: TakeoverParts,
  { tenant, no: projectNo, id, lifeS }: NumberedProject, place: SpanPlace): StoredSpan | undefined {
  const span = bytesOfUuid(place.id)
  const row = database.prepare<readonly [...SpanRow, project: number]>(`
    SELECT ${spanColumns}, project FROM span INDEXED BY span_guessed
    WHERE tenant = ? AND id = ? AND guessed = 1 ORDER BY project = ? DESC LIMIT 1
  `).get(tenant, span, projectNo)
  if (row === undefined) return undefined
  const [no, , startUs, formerTrace] = row
  const former = row.at(-1) as number
  const stored = storedSpan(row as unknown as SpanRow, '', id)
  const unpost = database.prepare('DELETE FROM posting WHERE term = ? AND start_us = ? AND no = ?')
  for (const term of stored.posted) unpost.run(mixedTerm(term, former), startUs, no)
  files.move({ tenant, no: former }, projectNo, place)
  database.prepare('DELETE FROM span WHERE no = ?').run(no)
  hours.shrink(former, startUs)
  use.add(tenant, -bytesOfRow(row as unknown as SpanRow))
  const trace = bytesOfUuid(place.trace)
  const move = database.prepare(
    'UPDATE OR IGNORE block SET trace = ? WHERE tenant = ? AND trace = ? AND id = ?',
  )
  for (const block of stored.blocks) move.run(trace, tenant, formerTrace, block.id)
  database.prepare(`
    UPDATE feedback SET project = ?, trace = ?, marked = 0 WHERE tenant = ? AND span = ?
      AND (project IS NULL OR project = (SELECT id FROM project WHERE no = ?))
  `).run(bytesOfUuid(id), trace, tenant, span, former)
  return { ...stored, place: { ...place, tenant: '' }, isMoved: true,
    expiresMin: lives.endOf(arrivalOf(row as unknown as SpanRow), lifeS) }
}

/** Notes that the end of a moved span is known to the rules of its project. */
export function confirmMove(database: Database, { tenant, no }: NumberedProject, id: Uuid): void {
  database.prepare(
    'UPDATE span SET guessed = NULL WHERE tenant = ? AND id = ? AND project = ? AND guessed = 2',
  ).run(tenant, bytesOfUuid(id), no)
}
