/** The spans, the feedback, the roll-ups and the documents of all tenants in Cassandra. */

import type { Env } from '../../../../cluster/index.ts'
import { cautiousClock } from '../../../limits/index.ts'
import { isSameFeedback, termOf } from '../../../platform/index.ts'
import type { BlockId, Document, DocumentPlace, DocumentRange, Feedback, FeedbackQuery,
  FeedbackToken, FilePart, FileOwner, Hour, Plan, Removal, ScanMark, ScannedHeads, SpanHead,
  SpanPlace, SpansOfRequest, SpanStore, Uuid, WrittenSpans } from '../../../platform/index.ts'
import type { Connection } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { ChunkTable } from '../log/chunk-table.ts'
import { blockKey, BlockTable } from './block-table.ts'
import type { TracePlace } from './block-table.ts'
import { BucketTable, hourLongerS } from './bucket-table.ts'
import { ConstantBodies } from './constant-bodies.ts'
import { DocumentTable } from './document-table.ts'
import type { PlacedFeedback } from './rows/feedback-row.ts'
import { feedbackLivesS, FeedbackTable } from './feedback-table.ts'
import { FeedbackTokenTable } from './feedback-token-table.ts'
import { fileKey, fileOwners, FileTable } from './file-table.ts'
import { GoneIds } from './gone-ids.ts'
import { takeOver } from './guess-takeover.ts'
import { LateWrites } from './late-writes.ts'
import { LifeChanges } from './lives/life-changes.ts'
import { ownLives, timesToLive } from './lives/written-lives.ts'
import { LocationTable } from './location-table.ts'
import { mergeScans } from './merged-scan.ts'
import { bytesOfMark } from './rows/operation-cell.ts'
import { hourUs } from './rows/partition-key.ts'
import { scanProject } from './project-scan.ts'
import { remove, removeLate } from './removal.ts'
import type { RemovalParts } from './removal.ts'
import { RollUpTable } from './roll-up-table.ts'
import { SpanTable } from './span-table.ts'
import { StatementBatches } from './statement-batches.ts'
import { Visibility } from './visibility.ts'
import { WaitingFeedback } from './waiting-feedback.ts'
import type { Waiting } from './waiting-feedback.ts'

/** Seconds that any span may live. */
const longestLifeS = 400 * 24 * 60 * 60
/** Heads of a slice of a trace, and spans of a trace that are read. */
const [traceSlice, traceMax] = [500, 100_000]
/** Hours that are asked at a time whether they have a span. */
const hoursAtOnce = 16
/** Feedback that waited, and is given to its span at a time. */
const waitingAtOnce = 16

/** A store of spans over a connection, which it owns. Any number of them may write at once. */
export class CassandraSpans implements SpanStore {
  readonly #connection: Connection
  readonly #spans: SpanTable
  readonly #buckets: BucketTable
  readonly #blocks: BlockTable
  readonly #locations: LocationTable
  readonly #files: FileTable
  readonly #feedback: FeedbackTable
  readonly #waiting: WaitingFeedback
  readonly #tokens: FeedbackTokenTable
  readonly #rollUps: RollUpTable
  readonly #documents: DocumentTable
  readonly #visibility: Visibility
  readonly #gone: GoneIds
  readonly #lateWrites: LateWrites
  readonly #lives: LifeChanges
  readonly #parts: RemovalParts & { readonly visibility: Visibility }

  constructor(connection: Connection, systemEnv: Env, access: 'write' | 'read') {
    const env = { ...systemEnv, nowMs: cautiousClock(systemEnv) }
    const bodies = new ConstantBodies(new ChunkTable(connection), env)
    this.#connection = connection
    this.#spans = new SpanTable(connection)
    this.#buckets = new BucketTable(connection, env)
    this.#blocks = new BlockTable(connection, bodies)
    this.#locations = new LocationTable(connection)
    this.#files = new FileTable(connection, bodies)
    this.#feedback = new FeedbackTable(connection)
    this.#waiting = new WaitingFeedback(connection)
    this.#tokens = new FeedbackTokenTable(connection, env)
    this.#rollUps = new RollUpTable(connection, env)
    this.#documents = new DocumentTable(connection, bodies)
    this.#gone = new GoneIds(this.#buckets)
    this.#visibility = new Visibility(this.#buckets)
    this.#lateWrites = new LateWrites(this.#buckets, this.#visibility, env)
    this.#parts = { connection, spans: this.#spans, buckets: this.#buckets, blocks: this.#blocks,
      locations: this.#locations, files: this.#files, feedback: this.#feedback,
      rollUps: this.#rollUps, waiting: this.#waiting, gone: this.#gone,
      visibility: this.#visibility }
    this.#lives = new LifeChanges({ connection, env, documents: this.#documents,
      bodies: { ofBlock: blockKey, ofFile: fileKey }, fileOwners, nowMs: env.nowMs, hourLongerS,
      hours: (tenant, project) => this.#buckets.hours(tenant, project, 0, 2 ** 31 - 1),
      isWriter: access === 'write' })
  }

  async write(request: SpansOfRequest): Promise<WrittenSpans> {
    const { tenant, spans, blocks, files, timeToLiveS } = request
    const places = spans.map(({ place }) => place)
    const own = ownLives(spans)
    const ofProject = (project: Uuid) => own.get(project) ?? timeToLiveS.get(project) ?? 0
    // An hour lives as long as any of its spans may.
    const ofHour = (project: Uuid) => own.has(project) ? longestLifeS : ofProject(project)
    const ofTrace = timesToLive(places, ofProject)
    const guesses = spans.filter(({ isGuess }) => isGuess)
      .map(({ place: { id, project } }) => ({ span: id, project }))
    // Before the rows: a writer that names the project finds the note, or this one finds its rows.
    await forEachLimit(waitingAtOnce, guesses, (guess) => this.#waiting.addGuess(tenant, guess))
    const batches = new StatementBatches()
    this.#spans.add(batches, spans, ofProject)
    this.#locations.add(batches, places, ofProject)
    this.#blocks.addMembers(batches, spans, ofProject)
    const hoursWritten = this.#buckets.add(batches, places, ofHour)
    await this.#blocks.addBlocks(batches, tenant, blocks, ofTrace)
    await this.#files.add(batches, tenant, files, { timeToLiveS: ofTrace,
      isShared: await this.#sharedOwners(tenant, files) })
    await batches.write(this.#connection)
    hoursWritten()
    const moved = await this.#settleWaiting(request)
    await this.#rollUps.touch(places)
    const late = await this.#lateWrites.removed(places)
    await removeLate(this.#parts, tenant, late)
    return { removed: [...new Set(late.map(({ id }) => id))], moved }
  }

  /** True for files of a span whose id another project has, too. */
  async #sharedOwners(tenant: string,
    files: readonly FilePart[]): Promise<(file: FilePart) => boolean> {
    if (files.length === 0) return () => false
    const places = Map.groupBy(await this.#locations.find(tenant, files.map(({ owner }) => owner)),
      ({ id }) => id)
    return ({ owner, project }) =>
      places.get(owner)?.some((place) => place.project !== project) ?? false
  }

  scan(plan: Plan, after?: ScanMark): AsyncIterable<ScannedHeads> {
    const parts = { spans: this.#spans, buckets: this.#buckets, visibility: this.#visibility }
    const scans = [...new Set(plan.projects)]
      .map((project) => scanProject(parts, plan, project, after))
    return scans.length === 1 ? scans[0]! : mergeScans(plan.order, scans)
  }

  async locate(tenant: string, ids: readonly Uuid[]): Promise<readonly SpanPlace[]> {
    return await this.#visibility.of(await this.#locations.find(tenant, ids))
  }

  async heads(places: readonly SpanPlace[]): Promise<readonly SpanHead[]> {
    return await this.#visibility.of(await this.#spans.at(places))
  }

  async *trace(place: SpanPlace): AsyncGenerator<readonly SpanHead[], void, void> {
    const members = await this.#visibility.of(await this.#blocks.members(place, traceMax))
    for (let at = 0; at < members.length; at += traceSlice) {
      const heads = await this.#spans.at(members.slice(at, at + traceSlice))
      if (heads.length > 0) {
        yield heads.toSorted((a, b) => a.startUs - b.startUs || (a.id < b.id ? -1 : 1))
      }
    }
  }

  blocks(trace: TracePlace, ids: readonly BlockId[]): Promise<ReadonlyMap<BlockId, Uint8Array>> {
    return this.#blocks.read(trace, ids)
  }

  files(place: FileOwner, name?: string): Promise<readonly FilePart[]> {
    return this.#files.find(place, name)
  }

  async remove(tenant: string, what: Removal): Promise<void> {
    await remove(this.#parts, tenant, what)
  }

  async changeLife(tenant: string, project: Uuid, lifeS: number): Promise<void> {
    await this.#lives.change({ tenant, project, lifeS })
  }

  async putFeedback(feedback: readonly PlacedFeedback[]): Promise<readonly Uuid[]> {
    const refused: Uuid[] = []
    for (const placed of feedback) {
      const { row, place } = placed
      if (await this.#isRemoved(placed)) {
        refused.push(row.id)
        continue
      }
      await this.#feedback.put(placed)
      if (place !== null) await this.#mark(row, place)
      else if (row.span !== null) await this.#awaitSpan(row, row.span)
    }
    return refused
  }

  async replaceFeedback(before: Feedback,
    placed: PlacedFeedback): Promise<'replaced' | 'changed' | 'removed'> {
    if (await this.#isRemoved(placed)) return 'removed'
    if (!await this.#feedback.replace(before, placed)) return 'changed'
    let [row, { place }] = [placed.row, placed]
    while (place !== null) {
      await this.#mark(row, place)
      // The mark of another member's change may have come before this one.
      const now = await this.#feedback.get(row.tenant, row.id)
      if (now === undefined) {
        await this.#connection.repeatableBatch([
          this.#spans.mark(place, { id: row.id, data: null }),
        ])
        break
      }
      if (isSameFeedback(now.row, row)) break
      ;[row, { place }] = [now.row, now]
    }
    return 'replaced'
  }

  /** True if feedback is on a span, a trace or a project that was removed. */
  async #isRemoved({ row: { tenant, span, trace, project }, place }: PlacedFeedback): Promise<
    boolean
  > {
    if (place !== null) return (await this.#visibility.of([place])).length === 0
    if (project !== null) {
      const { beforeUs } = await this.#buckets.removals(tenant, project)
      if (beforeUs >= Number.MAX_SAFE_INTEGER) return true
    }
    if (span === null) return false
    const gone = await this.#gone.find(tenant, trace === null ? [span] : [span, trace])
    if (gone.has(span)) return true
    // Another project may have the trace.
    return gone.has(trace ?? '') && (await this.locate(tenant, [trace!])).length === 0
  }

  /** Gives the span its mark when it is written, or now if it was written meanwhile. */
  async #awaitSpan({ tenant, id }: Feedback, span: Uuid): Promise<void> {
    await this.#waiting.add(tenant, { span, id })
    const places = await this.#visibility.of(await this.#locations.find(tenant, [span]))
    if (places.length > 0) await this.#markWaiting(tenant, places)
  }

  /**
   * Marks spans with the feedback that came before them, and moves spans of guessed projects.
   * Returns the new places of the moved spans.
   */
  async #settleWaiting({ tenant, spans, timeToLiveS }: SpansOfRequest): Promise<
    readonly SpanPlace[]
  > {
    const places = spans.map(({ place }) => place)
    const { feedback, guesses } = await this.#waiting.for(tenant, places.map(({ id }) => id))
    await this.#markAll(tenant, places, feedback)
    if (guesses.length === 0) return []
    const moved: SpanPlace[] = []
    const known = new Map(spans.filter(({ isGuess }) => isGuess !== true)
      .map(({ place }) => [place.id, place]))
    const elsewhere = await this.#namedPlaces(tenant,
      guesses.map(({ span }) => span).filter((span) => !known.has(span)))
    await forEachLimit(waitingAtOnce, guesses, async (guess) => {
      const place = known.get(guess.span) ?? elsewhere.get(guess.span)
      if (place === undefined) return
      const liveS = timeToLiveS.get(place.project) ?? timeToLiveS.get(guess.project) ?? 0
      const marks = await takeOver(this.#parts, guess, place, liveS)
      if (marks === undefined) return
      moved.push(place)
      for (const row of marks) await this.#mark(row, place)
    })
    return moved
  }

  /** Places of spans in projects that an operation named. */
  async #namedPlaces(tenant: string, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, SpanPlace>> {
    if (ids.length === 0) return new Map()
    const places = await this.#visibility.of(await this.#locations.find(tenant, ids))
    const heads = places.length < 2 ? [] : await this.#spans.at(places)
    return new Map(heads.filter(({ isGuess }) => isGuess !== true).map((head) => {
      const { project, startUs, id, trace, traceStartUs } = head
      return [id, { tenant, project, startUs, id, trace, traceStartUs }]
    }))
  }

  /** Marks spans with the feedback that came before them. */
  async #markWaiting(tenant: string, places: readonly SpanPlace[]): Promise<void> {
    const { feedback } = await this.#waiting.for(tenant, places.map(({ id }) => id))
    await this.#markAll(tenant, places, feedback)
  }

  async #markAll(tenant: string, places: readonly SpanPlace[],
    waiting: readonly Waiting[]): Promise<void> {
    if (waiting.length === 0) return
    const visible = Map.groupBy(await this.#visibility.of(places), ({ id }) => id)
    await forEachLimit(waitingAtOnce, waiting, async (each) => {
      const row = (await this.#feedback.get(tenant, each.id))?.row
      if (row !== undefined && row.span === each.span) {
        const places = visible.get(each.span) ?? []
        const named = places.filter(({ project }) => project === row.project)
        for (const place of named.length > 0 ? named : places) {
          await this.#feedback.put({ row, place })
          await this.#mark(row, place)
        }
      }
      await this.#waiting.remove(tenant, each)
    })
  }

  async #mark(row: Feedback, place: SpanPlace): Promise<void> {
    await this.#connection.repeatableBatch([
      this.#spans.mark(place, { id: row.id, data: bytesOfMark(row), term: termOf.feedback(row.key),
        timeToLiveS: feedbackLivesS }),
    ])
    await this.#rollUps.touch([place])
  }

  async getFeedback(tenant: string, id: Uuid): Promise<Feedback | undefined> {
    return (await this.#feedback.get(tenant, id))?.row
  }

  listFeedback(query: FeedbackQuery): Promise<readonly Feedback[]> {
    return this.#feedback.list(query)
  }

  async deleteFeedback(tenant: string, id: Uuid): Promise<boolean> {
    const placed = await this.#feedback.get(tenant, id)
    if (placed === undefined) return false
    if (placed.place !== null) {
      await this.#connection.repeatableBatch([this.#spans.mark(placed.place, { id, data: null })])
      await this.#rollUps.touch([placed.place])
    }
    await this.#feedback.remove(placed)
    return true
  }

  putFeedbackToken(token: FeedbackToken): Promise<void> {
    return this.#tokens.put(token)
  }

  getFeedbackToken(hash: string, nowMs: number): Promise<FeedbackToken | undefined> {
    return this.#tokens.find(hash, nowMs)
  }

  listFeedbackTokens(tenant: string, span: Uuid): Promise<readonly FeedbackToken[]> {
    return this.#tokens.list(tenant, span)
  }

  rollUps(tenant: string, project: Uuid, from: Hour,
    to: Hour): Promise<ReadonlyMap<Hour, Uint8Array>> {
    return this.#rollUps.find(tenant, project, from, to)
  }

  async putRollUp(tenant: string, project: Uuid, hour: Hour, body: Uint8Array,
    scanBeganUs: number): Promise<void> {
    await this.#rollUps.put({ tenant, project, hour, body, scanBeganUs })
  }

  async hours(tenant: string, project: Uuid, from: Hour, to: Hour): Promise<readonly Hour[]> {
    const [removals, hours] = await Promise.all([this.#buckets.removals(tenant, project),
      this.#buckets.hours(tenant, project, from, to)])
    const oldest = hours.filter((hour) => (hour + 1) * hourUs > removals.beforeUs).toReversed()
    if (!removals.someTraces) return oldest
    // An hour stays known when its last trace is removed.
    const full = new Set<Hour>()
    await forEachLimit(hoursAtOnce, oldest, async (hour) => {
      if (await this.#spans.someIn(tenant, project, hour)) full.add(hour)
    })
    return oldest.filter((hour) => full.has(hour))
  }

  putDocuments(place: DocumentPlace, documents: readonly Document[]): Promise<void> {
    return this.#documents.putDocuments(place, documents)
  }

  getDocuments(place: DocumentPlace, keys: readonly string[]): Promise<readonly Document[]> {
    return this.#documents.getDocuments(place, keys)
  }

  listDocuments(place: DocumentPlace, range: DocumentRange): Promise<readonly Document[]> {
    return this.#documents.listDocuments(place, range)
  }

  deleteDocuments(place: DocumentPlace, keys: readonly string[]): Promise<void> {
    return this.#documents.deleteDocuments(place, keys)
  }

  dropDocuments(place: DocumentPlace): Promise<void> {
    return this.#documents.dropDocuments(place)
  }

  async close(): Promise<void> {
    await this.#lives.close()
    await this.#connection.close()
  }
}
