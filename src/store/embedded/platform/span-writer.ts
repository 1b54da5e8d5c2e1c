/** Writes the spans of requests: each is read, merged with its operations, and written again. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { clocksApartMs } from '../../../limits/index.ts'
import { bytesOfUuid } from '../../../platform/index.ts'
import type { Block, BlockId, FilePart, SpansOfRequest, SpanPlace, SpanWrite, Term,
  Uuid } from '../../../platform/index.ts'
import type { Database, Value } from '../file/database.ts'
import type { FeedbackRows } from '../span-rows/feedback-rows.ts'
import type { HourRows } from '../span-rows/hour-rows.ts'
import { mixedTerm } from '../span-rows/numbers.ts'
import type { NumberedProject, Numbers } from '../span-rows/numbers.ts'
import { bytesOfRow, bytesOfSpan, changingColumns, changingValues, spanColumns,
  storedSpan } from '../span-rows/span-row.ts'
import type { SpanRow } from '../span-rows/span-row.ts'
import type { SpanLives } from './span-lives.ts'
import { addTerm, emptySpan, rebaseArrivals, takeIn } from '../span-rows/span-merge.ts'
import type { StoredSpan } from '../span-rows/span-merge.ts'
import { rowBytes } from '../span-rows/tenant-use.ts'
import type { TenantUse } from '../span-rows/tenant-use.ts'

/** Connection and tables that a writer fills. */
export interface SpanWriterParts {
  readonly database: Database
  readonly numbers: Numbers
  readonly hours: HourRows
  readonly feedback: FeedbackRows
  readonly use: TenantUse
  readonly lives: SpanLives
  /** Its clock must not jump ahead. */
  readonly env: Pick<Env, 'nowMs'>
}

/** A span in the making. */
interface Draft {
  /** Undefined if it is new. */
  readonly no: number | undefined
  readonly project: NumberedProject
  readonly span: StoredSpan
  readonly postings: Set<Term>
  /** Bytes that its row has. */
  readonly bytes: number
}

/** Writes spans in the transaction of its caller. */
export class SpanWriter {
  readonly #parts: SpanWriterParts

  constructor(parts: SpanWriterParts) {
    this.#parts = parts
  }

  /** Writes all of a request but what belongs to removed traces. Returns the ids of such spans. */
  write({ tenant: name, spans, blocks, files, timeToLiveS }: SpansOfRequest): readonly Uuid[] {
    const { numbers, lives, env } = this.#parts
    const tenant = numbers.numberTenant(name)
    const projects = this.#projectsOf(tenant, spans, timeToLiveS)
    const isGone = this.#goneTraces()
    const drafts = new Map<string, Draft>()
    const kept = new Set<BlockId>()
    const removed = new Set<Uuid>()
    const futureUs = (env.nowMs() + clocksApartMs) * 1_000
    for (const write of spans) {
      const project = projects.get(write.place.project)!
      requireReadable(write.place)
      if (write.place.startUs < project.goneUs || isGone(project.no, write.place.trace)) {
        removed.add(write.place.id)
        continue
      }
      const key = `${project.no} ${write.place.id}`
      const draft = drafts.get(key) ?? this.#draft(project, write.place)
      drafts.set(key, draft)
      rebaseArrivals(draft.span, { futureUs, arrivedUs: write.arrivedUs })
      for (const term of takeIn(draft.span, write)) draft.postings.add(term)
      draft.span.expiresMin = Math.max(draft.span.expiresMin ?? 0,
        lives.endOf(write.arrivedUs, write.timeToLiveS ?? project.lifeS))
      if (write.block !== null) kept.add(write.block)
    }
    const hasUnmarked = this.#parts.feedback.hasUnmarked(tenant)
    for (const draft of drafts.values()) this.#save(draft, hasUnmarked)
    this.#putBlocks(tenant, blocks.filter(({ id }) => kept.has(id)))
    this.#putFiles(tenant, files)
    return [...removed]
  }

  /** Gives a span that is there the marks of its feedback, and these terms. */
  mark(project: NumberedProject, id: Uuid, terms: readonly Term[]): void {
    const draft = this.#stored(project, id)!
    for (const term of terms) if (addTerm(draft.span, term, true)) draft.postings.add(term)
    draft.span.marks = this.#parts.feedback.marks(project.tenant, id)
    this.#save(draft, false)
  }

  /** The projects of spans, with their lives. */
  #projectsOf(tenant: number, spans: readonly SpanWrite[],
    timeToLiveS: ReadonlyMap<Uuid, number>): ReadonlyMap<Uuid, NumberedProject> {
    const { numbers, lives } = this.#parts
    const owns = Map.groupBy(spans, ({ place }) => place.project)
    return new Map([...owns].map(([id, own]) => {
      const lifeS = timeToLiveS.get(id)
      const project = lives.ofWrite(numbers.numberProject(tenant, id, lifeS), lifeS)
      // Earlier programs delete by the life of a project: that of its longest span.
      const ownS = Math.max(...own.map((span) => span.timeToLiveS ?? 0))
      return [id, ownS > (project.lifeS ?? 0) ? numbers.setLife(project, ownS) : project]
    }))
  }

  #draft(project: NumberedProject, place: SpanPlace): Draft {
    return this.#stored(project, place.id) ??
      { no: undefined, project, span: emptySpan(place), postings: new Set(), bytes: 0 }
  }

  #stored(project: NumberedProject, id: Uuid): Draft | undefined {
    const row = this.#parts.database.prepare<SpanRow>(
      `SELECT ${spanColumns} FROM span WHERE tenant = ? AND id = ? AND project = ?`,
    ).get(project.tenant, bytesOfUuid(id), project.no)
    return row &&
      { no: row[0], project, span: storedSpan(row, '', project.id), postings: new Set(),
        bytes: bytesOfRow(row) }
  }

  #save(draft: Draft, hasUnmarked: boolean): void {
    const { project, span } = draft
    const { startUs, id } = span.place
    const keys = draft.no === undefined && hasUnmarked
      ? this.#parts.feedback.unmarkedKeys(project.tenant, id)
      : []
    for (const term of keys) if (addTerm(span, term, true)) draft.postings.add(term)
    if (keys.length > 0) span.marks = this.#parts.feedback.marks(project.tenant, id)
    const values = changingValues(span)
    this.#parts.use.add(project.tenant, bytesOfSpan(values, span.posted.size) - draft.bytes)
    const no = draft.no === undefined
      ? this.#insert(project, span.place, values)
      : this.#update(draft.no, values)
    const post = this.#parts.database.prepare('INSERT OR IGNORE INTO posting VALUES (?, ?, ?)')
    for (const term of draft.postings) post.run(mixedTerm(term, project.no), startUs, no)
    this.#parts.hours.touch(project.no, startUs)
  }

  #insert(project: NumberedProject, { id, startUs, trace, traceStartUs }: SpanPlace,
    values: readonly Value[]): number {
    return Number(
      this.#parts.database.prepare(insertion).run(project.tenant, bytesOfUuid(id), project.no,
        startUs, bytesOfUuid(trace), traceStartUs - startUs, ...values)
        .lastInsertRowid,
    )
  }

  #update(no: number, values: readonly Value[]): number {
    this.#parts.database.prepare(update).run(...values, no)
    return no
  }

  /** Tells of traces whether they were removed. */
  #goneTraces(): (project: number, trace: Uuid) => boolean {
    const { database } = this.#parts
    const isAny = database.prepare('SELECT 1 FROM gone_trace LIMIT 1').get() !== undefined
    if (!isAny) return () => false
    const known = new Map<string, boolean>()
    return (project, trace) => {
      const key = `${project} ${trace}`
      const found = known.get(key) ?? database.prepare(
            'SELECT 1 FROM gone_trace WHERE project = ? AND trace = ?',
          ).get(project, bytesOfUuid(trace)) !== undefined
      known.set(key, found)
      return found
    }
  }

  #putBlocks(tenant: number, blocks: readonly Block[]): void {
    const put = this.#parts.database.prepare(
      'INSERT OR IGNORE INTO block (tenant, trace, id, data) VALUES (?, ?, ?, ?)',
    )
    for (const { trace, id, data } of blocks) {
      const { changes } = put.run(tenant, bytesOfUuid(trace), id, data)
      if (changes > 0) this.#parts.use.add(tenant, rowBytes.block + data.byteLength)
    }
  }

  #putFiles(tenant: number, files: readonly FilePart[]): void {
    const { database, use } = this.#parts
    const gone = database.prepare(`
      SELECT 1 FROM gone_trace CROSS JOIN project ON project.no = gone_trace.project
      WHERE trace = ? AND tenant = ?
    `)
    const before = database.prepare<[number]>(
      'SELECT octet_length(data) FROM file WHERE tenant = ? AND owner = ? AND name = ?',
    )
    const put = database.prepare(`
      INSERT INTO file (tenant, owner, name, trace, type, data) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET type = excluded.type, data = excluded.data
    `)
    for (const { owner, ownerTrace, name, type, data } of files) {
      const trace = bytesOfUuid(ownerTrace)
      if (gone.get(trace, tenant) !== undefined) continue
      const [bytes = -rowBytes.file] = before.get(tenant, bytesOfUuid(owner), name) ?? []
      put.run(tenant, bytesOfUuid(owner), name, trace, type, data)
      use.add(tenant, data.byteLength - bytes)
    }
  }
}

const insertion = `INSERT INTO span (tenant, id, project, start_us, trace, trace_us,
  ${changingColumns.join(', ')}) VALUES (?, ?, ?, ?, ?, ?${', ?'.repeat(changingColumns.length)})`

const update = `UPDATE span SET ${
  changingColumns.map((name) => `${name} = ?`).join(', ')
} WHERE no = ?`

/** A row with another time could not be read again. */
function requireReadable({ startUs, traceStartUs }: SpanPlace): void {
  if (Number.isSafeInteger(startUs) && Number.isSafeInteger(traceStartUs)) return
  throw new HeddleError('invalid', 'A time of a span is out of range.')
}
