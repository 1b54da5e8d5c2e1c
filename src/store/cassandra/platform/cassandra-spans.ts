/** The spans, the feedback, the roll-ups and the documents of all tenants in Cassandra. */

import type { Env } from '../../../../cluster/index.ts'
import { cautiousClock } from '../../../limits/index.ts'
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
import { FeedbackTable } from './feedback-table.ts'
import { FeedbackTokenTable } from './feedback-token-table.ts'
import { fileKey, fileOwners, FileTable } from './file-table.ts'
import { GoneIds } from './gone-ids.ts'
import { LateWrites } from './late-writes.ts'
import { LifeChanges } from './lives/life-changes.ts'
import { ownLives, timesToLive } from './lives/written-lives.ts'
import { LocationTable } from './location-table.ts'
import { mergeScans } from './merged-scan.ts'
import { hourUs } from './rows/partition-key.ts'
import { scanProject } from './project-scan.ts'
import { remove, removeLate } from './removal.ts'
import type { RemovalParts } from './removal.ts'
import { RollUpTable } from './roll-up-table.ts'
import { SpanFeedback } from './span-feedback.ts'
import { SpanTable } from './span-table.ts'
import { StatementBatches } from './statement-batches.ts'
import { Visibility } from './visibility.ts'
import { WaitingFeedback } from './waiting-feedback.ts'

/** Seconds that any span may live. */
const longestLifeS = 400 * 24 * 60 * 60
/** Heads of a slice of a trace, and spans of a trace that are read. */
const [traceSlice, traceMax] = [500, 100_000]
/** Hours that are asked at a time whether they have a span. */
const hoursAtOnce = 16
/** Time in which a guess and the operation that names another place may be written concurrently. */
const guessEarlierMs = 60 * 60 * 1_000
/** Notes of guesses that are written at a time. */
const guessesAtOnce = 16

/** A store of spans over a connection, which it owns. Any number of them may write at once. */
export class CassandraSpans implements SpanStore {
  readonly #connection: Connection
  readonly #nowMs: () => number
  readonly #spans: SpanTable
  readonly #buckets: BucketTable
  readonly #blocks: BlockTable
  readonly #locations: LocationTable
  readonly #files: FileTable
  readonly #feedback: SpanFeedback
  readonly #waiting: WaitingFeedback
  readonly #rollUps: RollUpTable
  readonly #documents: DocumentTable
  readonly #visibility: Visibility
  readonly #lateWrites: LateWrites
  readonly #lives: LifeChanges
  readonly #parts: RemovalParts

  constructor(connection: Connection, systemEnv: Env, access: 'write' | 'read') {
    const env = { ...systemEnv, nowMs: cautiousClock(systemEnv) }
    const bodies = new ConstantBodies(new ChunkTable(connection), env)
    this.#connection = connection
    this.#nowMs = env.nowMs
    this.#spans = new SpanTable(connection)
    this.#buckets = new BucketTable(connection, env)
    this.#blocks = new BlockTable(connection, bodies)
    this.#locations = new LocationTable(connection)
    this.#files = new FileTable(connection, bodies)
    this.#waiting = new WaitingFeedback(connection)
    this.#rollUps = new RollUpTable(connection, env)
    this.#documents = new DocumentTable(connection, bodies)
    this.#visibility = new Visibility(this.#buckets)
    this.#lateWrites = new LateWrites(this.#buckets, this.#visibility, env)
    this.#parts = { connection, spans: this.#spans, buckets: this.#buckets, blocks: this.#blocks,
      locations: this.#locations, files: this.#files, feedback: new FeedbackTable(connection),
      rollUps: this.#rollUps, waiting: this.#waiting, gone: new GoneIds(this.#buckets),
      visibility: this.#visibility, tokens: new FeedbackTokenTable(connection, env) }
    this.#feedback = new SpanFeedback(this.#parts)
    this.#lives = new LifeChanges({ connection, env, documents: this.#documents,
      bodies: { ofBlock: blockKey, ofFile: fileKey }, fileOwners, hourLongerS,
      touch: (places) => this.#rollUps.touch(places),
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
    const guessed = spans.filter(({ isGuess }) => isGuess).map(({ place }) => place)
    const guesses = guessed.map(({ id, project, ...at }) => ({ span: id, project, at }))
    // Before the rows: a writer that names the project finds the note, or this one finds its rows.
    await forEachLimit(guessesAtOnce, guesses, (guess) => this.#waiting.addGuess(tenant, guess))
    const batches = new StatementBatches()
    this.#spans.add(batches, spans, ofProject)
    this.#locations.add(batches, spans.filter(({ isGuess }) => !isGuess).map(({ place }) => place),
      ofProject)
    this.#locations.add(batches, guessed, ofProject, this.#guessedUs())
    this.#blocks.addMembers(batches, spans, ofProject)
    const hoursWritten = this.#buckets.add(batches, places, ofHour)
    await this.#blocks.addBlocks(batches, tenant, blocks, ofTrace)
    await this.#files.add(batches, tenant, files, { timeToLiveS: ofTrace,
      isShared: await this.#sharedOwners(tenant, files) })
    await batches.write(this.#connection)
    hoursWritten()
    // Before the look for locations: a named one that is written later replaces what is added here.
    const settledUs = this.#nowMs() * 1_000
    const { moved, hidden } = await this.#feedback.settleWaiting(request)
    if (hidden.length > 0) {
      const missing = new StatementBatches()
      this.#locations.add(missing, hidden, ofProject, settledUs)
      await missing.write(this.#connection)
    }
    await this.#rollUps.touch(places)
    const late = await this.#lateWrites.removed(places)
    await removeLate(this.#parts, tenant, late)
    return { removed: [...new Set(late.map(({ id }) => id))], moved }
  }

  /** An earlier timestamp, so that the location of a guess does not replace a named one. */
  #guessedUs(): number {
    return (this.#nowMs() - guessEarlierMs) * 1_000
  }

  confirmMoves(tenant: string, places: readonly SpanPlace[]): Promise<void> {
    return this.#feedback.confirmMoves(tenant, places)
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

  isRemovedProject(tenant: string, project: Uuid): Promise<boolean> {
    return this.#buckets.isRemoved(tenant, project)
  }

  async changeLife(tenant: string, project: Uuid, lifeS: number): Promise<void> {
    await this.#lives.change({ tenant, project, lifeS })
  }

  putFeedback(feedback: readonly PlacedFeedback[]): Promise<readonly Uuid[]> {
    return this.#feedback.putFeedback(feedback)
  }

  replaceFeedback(before: Feedback,
    placed: PlacedFeedback): Promise<'replaced' | 'changed' | 'removed'> {
    return this.#feedback.replaceFeedback(before, placed)
  }

  getFeedback(tenant: string, id: Uuid): Promise<Feedback | undefined> {
    return this.#feedback.getFeedback(tenant, id)
  }

  listFeedback(query: FeedbackQuery): Promise<readonly Feedback[]> {
    return this.#feedback.listFeedback(query)
  }

  deleteFeedback(tenant: string, id: Uuid): Promise<boolean> {
    return this.#feedback.deleteFeedback(tenant, id)
  }

  putFeedbackToken(token: FeedbackToken): Promise<void> {
    return this.#feedback.putFeedbackToken(token)
  }

  getFeedbackToken(hash: string, nowMs: number): Promise<FeedbackToken | undefined> {
    return this.#feedback.getFeedbackToken(hash, nowMs)
  }

  listFeedbackTokens(tenant: string, span: Uuid): Promise<readonly FeedbackToken[]> {
    return this.#feedback.listFeedbackTokens(tenant, span)
  }

  deleteFeedbackTokens(tenant: string): Promise<number> {
    return this.#feedback.deleteFeedbackTokens(tenant)
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
