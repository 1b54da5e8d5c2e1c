/** Writes the spans of requests: each is read, merged with its operations, and written again. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { clocksApartMs } from '../../../limits/index.ts'
import { bytesOfUuid, termOf } from '../../../platform/index.ts'
import type { Block, BlockId, SpansOfRequest, SpanPlace, SpanWrite, Term, Uuid,
  WrittenSpans } from '../../../platform/index.ts'
import type { Database, Value } from '../file/database.ts'
import type { FeedbackRows } from '../span-rows/feedback-rows.ts'
import type { FileRows } from '../span-rows/file-rows.ts'
import type { GoneRows } from '../span-rows/gone-rows.ts'
import type { HourRows } from '../span-rows/hour-rows.ts'
import { mixedTerm } from '../span-rows/numbers.ts'
import type { NumberedProject, Numbers } from '../span-rows/numbers.ts'
import { bytesOfRow, bytesOfSpan, changingColumns, changingValues, indexedColumns, indexedValues,
  spanColumns, storedSpan } from '../span-rows/span-row.ts'
import type { SpanRow } from '../span-rows/span-row.ts'
import type { SpanLives } from './span-lives.ts'
import { hasGuesses, namedPlace, takeOver } from './span-takeover.ts'
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
  readonly gone: GoneRows
  readonly files: FileRows
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
  /** Values of the indexed columns of its row. */
  readonly indexed: readonly Value[]
}

/** A request, and the places that were named for guesses in it. */
interface NamedRequest {
  readonly request: SpansOfRequest
  readonly named: ReadonlyMap<Uuid, SpanPlace>
}

/** Writes spans in the transaction of its caller. */
export class SpanWriter {
  readonly #parts: SpanWriterParts

  constructor(parts: SpanWriterParts) {
    this.#parts = parts
  }

  /** Writes all of a request but what belongs to removed traces. */
  write(request: SpansOfRequest): WrittenSpans {
    const { database, numbers, lives, gone, files: fileRows, env } = this.#parts
    const tenant = numbers.numberTenant(request.tenant)
    const { named, request: { spans, blocks, files, timeToLiveS } } = this.#withNamed(tenant,
      request)
    const projects = this.#projectsOf(tenant, spans, timeToLiveS)
    const isGone = gone.test()
    const drafts = new Map<string, Draft>()
    const kept = new Set<BlockId>()
    const removed = new Set<Uuid>()
    const rejected: SpanPlace[] = []
    const mayTakeOver = hasGuesses(database, tenant)
    const futureUs = (env.nowMs() + clocksApartMs) * 1_000
    for (const write of spans) {
      const project = projects.get(write.place.project)!
      requireReadable(write.place)
      if (write.place.startUs < project.goneUs || isGone(project, write.place.trace)) {
        removed.add(write.place.id)
        rejected.push(write.place)
        continue
      }
      const key = `${project.no} ${write.place.id}`
      const draft = drafts.get(key) ?? this.#draft(project, write, mayTakeOver)
      drafts.set(key, draft)
      rebaseArrivals(draft.span, { futureUs, arrivedUs: write.arrivedUs })
      for (const term of takeIn(draft.span, write)) draft.postings.add(term)
      draft.span.expiresMin = Math.max(draft.span.expiresMin ?? 0,
        lives.endOf(write.arrivedUs, write.timeToLiveS ?? project.lifeS))
      if (write.block !== null) kept.add(write.block)
    }
    for (const draft of drafts.values()) this.#save(draft)
    this.#markNew(tenant, drafts.values())
    // Another project may have taken the feedback on a span that this one rejects.
    for (const place of rejected) this.#noteRejected(tenant, place)
    this.#putBlocks(tenant, blocks.filter(({ id }) => kept.has(id)))
    for (const file of files) {
      const project = projects.get(file.project) ?? numbers.numberProject(tenant, file.project)
      const isLate = removed.has(file.owner) || isGone(project, file.ownerTrace)
      if (!isLate && project.goneUs < Number.MAX_SAFE_INTEGER) fileRows.put(project, file)
    }
    const moved = [...drafts.values()].filter(({ span: { isMoved, place } }) =>
      isMoved || named.has(place.id)
    ).map(({ project, span: { place } }) => ({ ...place, tenant: request.tenant,
      project: project.id })
    )
    return { removed: [...removed], moved }
  }

  /** Notes that a span was removed, which rejects feedback on it, and deletes what came before. */
  #noteRejected(tenant: number, { id, project }: SpanPlace): void {
    const { gone, feedback, env } = this.#parts
    gone.noteId(tenant, bytesOfUuid(id), env.nowMs() * 1_000)
    feedback.deleteWaitingOn(tenant, id, project)
  }

  /** The request with guesses at the places that other requests have named since. */
  #withNamed(tenant: number, request: SpansOfRequest): NamedRequest {
    const named = new Map<Uuid, SpanPlace>()
    if (!request.spans.some(({ isGuess }) => isGuess)) return { named, request }
    const traces = new Map<BlockId, SpanPlace>()
    const spans = request.spans.map((write) => {
      const place = write.isGuess
        ? namedPlace(this.#parts.database, tenant, write.place)
        : undefined
      if (place === undefined) return write
      named.set(place.id, place)
      if (write.block !== null) traces.set(write.block, place)
      return { ...write, place, isGuess: false }
    })
    return { named,
      request: { ...request, spans,
        blocks: request.blocks.map((block) => ({ ...block, ...traceAt(traces.get(block.id)) })),
        files: request.files.map((file) => {
          const place = named.get(file.owner)
          return place ? { ...file, project: place.project, ownerTrace: place.trace } : file
        }) } }
  }

  /** Gives a span the marks of its feedback, in each project that has the span. */
  mark(tenant: number, id: Uuid): void {
    const { database, numbers, feedback } = this.#parts
    const projects = database.prepare<[number]>(
      'SELECT project FROM span WHERE tenant = ? AND id = ?',
    ).all(tenant, bytesOfUuid(id))
    for (const [no] of projects) {
      const draft = this.#stored(numbers.projectAt(no), id)!
      this.#mark(draft)
      this.#save(draft)
    }
    if (projects.length > 0) feedback.setMarked(tenant, id)
  }

  /**
   * Gives new spans the marks of feedback that waits for them, and takes these from the spans of
   * their ids in other projects. All rows of the request must be written.
   */
  #markNew(tenant: number, drafts: Iterable<Draft>): void {
    const { feedback } = this.#parts
    if (!feedback.hasUnmarked(tenant)) return
    const ids = new Set(
      [...drafts].flatMap(({ no, span: { place: { id } } }) =>
        no === undefined && feedback.isAwaited(tenant, id) ? [id] : []
      ),
    )
    for (const id of ids) this.mark(tenant, id)
  }

  #mark({ project, span, postings }: Draft): void {
    span.marks = this.#parts.feedback.marks(project, span.place.id)
    for (const key of new Set(span.marks.map((mark) => mark.key))) {
      const term = termOf.feedback(key)
      if (addTerm(span, term, true)) postings.add(term)
    }
  }

  /** The projects of spans, with their lives. */
  #projectsOf(tenant: number, spans: readonly SpanWrite[],
    timeToLiveS: ReadonlyMap<Uuid, number>): ReadonlyMap<Uuid, NumberedProject> {
    const { numbers, lives } = this.#parts
    const owns = Map.groupBy(spans, ({ place }) => place.project)
    return new Map([...owns].map(([id, own]) => {
      const lifeS = timeToLiveS.get(id)
      const project = lives.ofWrite(numbers.numberProject(tenant, id, lifeS), lifeS)
      // Earlier programs delete by the life of a project, which is the longest of its spans.
      const ownS = Math.max(...own.map((span) => span.timeToLiveS ?? 0))
      return [id, ownS > (project.lifeS ?? 0) ? numbers.setLife(project, ownS) : project]
    }))
  }

  #draft(project: NumberedProject, { place, isGuess }: SpanWrite, mayTakeOver: boolean): Draft {
    const stored = this.#stored(project, place.id)
    const takesOver = mayTakeOver && isGuess !== true
    if (stored !== undefined && !(takesOver && stored.span.isGuess)) return stored
    const taken = takesOver ? takeOver(this.#parts, project, place) : undefined
    return { no: undefined, project, span: taken ?? emptySpan(place),
      postings: new Set(taken?.posted), bytes: 0, indexed: [] }
  }

  #stored(project: NumberedProject, id: Uuid): Draft | undefined {
    const row = this.#parts.database.prepare<SpanRow>(
      `SELECT ${spanColumns} FROM span WHERE tenant = ? AND id = ? AND project = ?`,
    ).get(project.tenant, bytesOfUuid(id), project.no)
    if (row === undefined) return undefined
    const span = storedSpan(row, '', project.id)
    return { no: row[0], project, span, postings: new Set(), bytes: bytesOfRow(row),
      indexed: indexedValues(span) }
  }

  #save(draft: Draft): void {
    const { project, span } = draft
    const { startUs } = span.place
    const values = changingValues(span)
    this.#parts.use.add(project.tenant, bytesOfSpan(values, span.posted.size) - draft.bytes)
    const no = draft.no === undefined
      ? this.#insert(project, span.place, [...values, ...indexedValues(span)])
      : this.#update(draft.no, draft, values)
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

  #update(no: number, { span, indexed }: Draft, values: readonly Value[]): number {
    const { database } = this.#parts
    database.prepare(update(changingColumns)).run(...values, no)
    const after = indexedValues(span)
    if (after.some((value, index) => value !== indexed[index])) {
      database.prepare(update(indexedColumns)).run(...after, no)
    }
    return no
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
}

const insertedColumns = ['tenant', 'id', 'project', 'start_us', 'trace', 'trace_us',
  ...changingColumns, ...indexedColumns]

const insertion = `INSERT INTO span (${insertedColumns.join(', ')})
  VALUES (${insertedColumns.map(() => '?').join(', ')})`

const updates = new Map<readonly string[], string>(
  [changingColumns, indexedColumns].map((
    columns,
  ) => [columns,
    `UPDATE span SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE no = ?`]
  ),
)

function update(columns: readonly string[]): string {
  return updates.get(columns)!
}

function traceAt(place: SpanPlace | undefined): Partial<Pick<Block, 'trace' | 'traceStartUs'>> {
  return place ? { trace: place.trace, traceStartUs: place.traceStartUs } : {}
}

/** A row with another time could not be read again. */
function requireReadable({ startUs, traceStartUs }: SpanPlace): void {
  if (Number.isSafeInteger(startUs) && Number.isSafeInteger(traceStartUs)) return
  throw new HeddleError('invalid', 'A time of a span is out of range.')
}
