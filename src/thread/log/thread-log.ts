/** A thread's state and the log that makes it true: the only place where either changes. */

import type { CheckpointPlace, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { ChannelView, CheckpointReader, decodeRow, toTuple } from '../../checkpoint/index.ts'
import type { JsonText, RecordOf, StoredTuple } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Step } from '../../graph/index.ts'
import type { ReadAllowance } from '../../limits/index.ts'
import { runChanges } from '../model/run-changes.ts'
import { apply, rowOf } from '../model/thread-state.ts'
import type { ThreadState } from '../model/thread-state.ts'
import { DurableHead, headOf } from './durable-head.ts'
import { logWithHeld } from './held-back.ts'
import type { HeldBack, ReadableLog } from './held-back.ts'
import { billingUpdate, LogWriter } from './log-writer.ts'
import type { LogWriterEntry, Urgency } from './log-writer.ts'
import { NewestSteps } from './newest-steps.ts'
import { RecentViews } from './recent-views.ts'
import { RunRows } from './run-rows.ts'
import { changesIndex, isStep, StepPlaces } from './step-places.ts'
import { onNewBranch, storedThread } from './stored-thread.ts'
import type { LogWatcher, ThreadLogOptions } from './thread-log-options.ts'

interface Loading extends ThreadLogOptions {
  /**
   * Called once for each try with the loaded log. What it writes at once goes into the first
   * row of the epoch, so that a resumed run waits for one row instead of two.
   */
  readonly found?: (threadLog: ThreadLog) => void
}

const loadTriesMax = 3

/** One thread's log in memory and on its way to disk. */
export class ThreadLog {
  #state: ThreadState
  #writer: LogWriter
  readonly #options: ThreadLogOptions
  readonly #log: ReadableLog
  readonly #onDisk: DurableHead
  /** Resolves when nothing is written any more to logs that this thread id had before. */
  #earlier: Promise<void> = Promise.resolve()
  readonly #recent: RecentViews
  readonly #places = new StepPlaces()
  readonly newestSteps = new NewestSteps()
  /** Reads all that was written, on disk or not yet: for the executions that wrote it. */
  readonly live: CheckpointReader
  /** Reads what is on disk: for everybody else. */
  readonly settled: CheckpointReader

  /** Undefined for most threads: then nothing is done for it. */
  watcher: LogWatcher | undefined

  /** True if its last row was an earlier owner's when it was loaded. */
  readonly isInherited: boolean

  private constructor(options: ThreadLogOptions, state: ThreadState, isInherited = false) {
    this.#options = options
    this.isInherited = isInherited
    this.#state = state
    this.#writer = this.#newWriter(state)
    this.#onDisk = new DurableHead(headOf(state))
    this.#recent = new RecentViews(options.ports.views)
    const log = this.#log = logWithHeld(options.ports.log, () => this.#writer)
    this.live = new CheckpointReader(log, () => headOf(this.#state))
    this.settled = new CheckpointReader(log,
      () => this.isHeldBack ? headOf(this.#state) : this.#onDisk.head)
  }

  /**
   * Loads a thread: its row, and what the log says beyond it. A late row of an earlier owner makes
   * the first append stale: then everything is read again.
   */
  static async load(options: Loading): Promise<ThreadLog> {
    for (let tries = 1;; tries++) {
      try {
        return await ThreadLog.#loadOnce(options)
      } catch (error) {
        const stale = error instanceof HeddleError && error.code === 'stale_append'
        if (!stale || tries === loadTriesMax) throw error
      }
    }
  }

  static async #loadOnce(options: Loading): Promise<ThreadLog> {
    const { ports: { log }, epoch, found } = options
    const stored = await storedThread(options)
    if (!stored) {
      const threadLog = new ThreadLog(options, onNewBranch(options))
      found?.(threadLog)
      return threadLog
    }
    const { state, lag, isNewlyDeleted, lacksTimes } = stored
    const isInherited = state.row.epoch !== epoch
    const isForeign = log.shared && isInherited && !state.row.deleted
    let opened = !isForeign
    const onLost = (reason: unknown) => {
      if (opened) options.onLost(reason)
    }
    const threadLog = new ThreadLog({ ...options, onLost }, state, isInherited)
    const opens = isForeign || (lacksTimes && !state.row.deleted)
    const settled = opens
      ? threadLog.#openEpoch(lag)
      : log.shared
      ? threadLog.#bill(lag, isNewlyDeleted)
      : undefined
    found?.(threadLog)
    await settled
    opened = true
    return threadLog
  }

  get state(): ThreadState {
    return this.#state
  }
  /** The position of the next record. */
  get position(): { epoch: number; seq: number } {
    return this.#writer.position
  }
  /** Resolves when everything written so far is on disk. Reading it hurries the write. */
  get durable(): Promise<void> {
    this.#writer.hurry()
    return this.#onDisk.durable
  }

  /**
   * Resolves when executions can read everything written so far: the log has it, or it is kept
   * back. Rows about it may come later.
   */
  get logged(): Promise<void> {
    if (this.isHeldBack) return Promise.resolve()
    this.#writer.hurry()
    return this.#writer.logged
  }

  /**
   * True while what is written is kept back. Then `write` resolves at once, and nobody but the
   * thread's own run, and who waits for that, may get anything of it.
   */
  get isHeldBack(): boolean {
    return this.#writer.isHeldBack
  }

  /** Keeps back what is written from now on. Only for a thread that was never written. */
  holdBack(heldBack: HeldBack): void {
    this.#writer.holdBack(heldBack)
  }

  /** Writes what is kept back. Resolves when it is on disk, or if nothing is kept back. */
  async keep(): Promise<void> {
    if (this.isHeldBack) await this.durable
  }

  /** Drops what is kept back: the thread was never there. */
  discard(): void {
    this.#writer.drop()
    this.begin(onNewBranch(this.#options), Promise.resolve())
  }

  /** True if the row with this number, by default the newest, is on disk. */
  isOnDisk(seq = this.#state.row.seq): boolean {
    return this.#onDisk.head.seq >= seq
  }

  /**
   * Makes records true: in the state at once, on disk when the result resolves. `replaced` override
   * the places of checkpoints that a rollback dropped, in the same row.
   */
  write(records: readonly RecordOf[], urgency: Urgency = 'now',
    replaced: readonly CheckpointPlace[] = []): Promise<void> {
    const places: CheckpointPlace[] = []
    const rows = new RunRows()
    let thread = false
    // Before anything changes: if one record cannot be applied, none is.
    let state = this.#state
    const states = records.map((record) => (state = apply(state, record, this.position)))
    for (const [i, record] of records.entries()) {
      const before = this.#state
      this.#state = states[i]!
      places.push(...this.#placesOf(record, before))
      thread ||= changesIndex(record, before, this.#state)
      if (isStep(record)) continue
      rows.note(runChanges(record, before, this.#state, this.position.seq))
    }
    this.newestSteps.wrote(records)
    places.push(...replaced)
    const seq = this.watcher ? this.position.seq : 0
    const billed = this.isHeldBack ? this.#billNow(rows) : undefined
    const landed = this.#settling(this.#writer.write(
      { records, places, ...this.#changesOf(rows), ...billed && { billed: [] }, thread },
      urgency,
    ))
    // What is kept back counts at once.
    const durable = billed?.then(() => this.isHeldBack ? undefined : landed) ?? landed
    if (billed) durable.catch(() => {})
    this.watcher?.written(records, seq, durable)
    this.#reportEnded(rows, durable)
    return durable
  }

  /** Call before the first record if nothing was ever stored under the id of the thread. */
  noteNewId(): void {
    this.#writer.noteNewId()
  }

  /** Records that wait to be written, all for the row at `position`. */
  get waiting(): readonly RecordOf[] {
    return this.#writer.waiting
  }

  /** Sends off what waits to be written: later records go into another row. */
  seal(): void {
    this.#writer.seal()
  }

  /** The first row of the epoch, and with it every row that lags behind the log. */
  #openEpoch(lag: RunRows): Promise<void> {
    const { epoch } = this.position
    this.#state = apply(this.#state, { $case: 'opened', value: { epoch } }, this.position)
    const entry = { records: [], ...this.#changesOf(lag), thread: true }
    const durable = this.#settling(this.#writer.write(entry, 'now'))
    this.#reportEnded(lag, durable)
    return durable
  }

  #reportEnded({ kept }: RunRows, durable: Promise<void>): void {
    const { runsEnded } = this.#options.ports
    if (runsEnded === undefined || kept.length === 0 || !this.#state.exists) return
    durable.then(() => runsEnded(kept), () => {})
  }

  #changesOf(rows: RunRows): Pick<LogWriterEntry, 'runs' | 'removedRunIds' | 'billed'> {
    const { changed, removedRunIds } = rows
    return { runs: changed.values(), removedRunIds, billed: this.#billed(rows) }
  }

  /**
   * Called if no epoch is opened: a deleted thread is about to be purged, but its billing records
   * outlive it. If only the log has the delete, the thread's row is marked too: after half a purge
   * the log may not open any more. Rows of runs that lag come before it, for the purge to find.
   */
  async #bill(lag: RunRows, isNews: boolean): Promise<void> {
    const { ports: { log }, epoch } = this.#options
    const updates = this.#billed(lag).map(billingUpdate)
    const row = { ...rowOf(this.#state, this.storedBytes), epoch }
    if (isNews) updates.push(...lag.whole, { table: 'thread', row })
    if (updates.length > 0) await log.append([], updates)
  }

  /** The billing of a run that is kept back is on disk before its end is answered. */
  async #billNow(rows: RunRows): Promise<void> {
    const { ports: { log }, onLost } = this.#options
    const updates = this.#billed(rows).map(billingUpdate)
    if (updates.length === 0) return
    await log.append([], updates).catch((error: unknown) => {
      onLost(error)
      throw error
    })
  }

  #billed({ ended }: RunRows): readonly RunRow[] {
    return this.#options.ports.billing ? ended : []
  }

  /** The records of a row, once it is on disk or kept back. */
  async recordsAt(seq: number): Promise<RecordOf[]> {
    if (!this.isHeldBack) await this.durable
    const entries = await this.#log.read(this.#state.row.branch!, { from: seq, through: seq })
    return entries.flatMap(({ body }) => decodeRow(body))
  }

  /** Bytes of its log, without what waits to be written. */
  get storedBytes(): number {
    return this.#writer.storedBytes
  }

  /** The state values at a checkpoint, as JSON: remembered, or read with this allowance. */
  async values(checkpointId: string, channels: Channels,
    allowance: ReadAllowance): Promise<JsonText> {
    const view = this.recentView(checkpointId)
      ?? await this.settled.within(allowance, (reader) => reader.view('', checkpointId))
    if (!view) throw new HeddleError('not_found', `There is no checkpoint ${checkpointId} here.`)
    if (this.#state.row.head?.id === checkpointId) this.#recent.remember(checkpointId, view)
    return view.json(channels ?? view.names().filter((name) => !/^(__|branch:)/.test(name)))
  }

  /** Throws `not_found` for a checkpoint that is not on disk as part of history. */
  async requireCheckpoint(ns: string, checkpointId: string): Promise<void> {
    if (ns === '' && this.#state.row.head?.id === checkpointId) return
    await this.durable
    if (await this.settled.has(ns, checkpointId)) return
    throw new HeddleError('not_found', `Checkpoint ${checkpointId} not found on this thread.`)
  }

  /** The state at a checkpoint, if it is remembered. */
  recentView(checkpointId: string): ChannelView | undefined {
    return this.#recent.get(checkpointId)
  }

  /**
   * Loads the head unless its view is remembered, so that later steps can extend it. Undefined if
   * nothing was loaded or the head has moved meanwhile.
   */
  async loadHead(): Promise<StoredTuple | undefined> {
    const { head, stepSeq } = this.#state.row
    if (!head || this.recentView(head.id)) return undefined
    const settled = this.#onDisk.head
    const isOnDisk = settled.head?.id === head.id && settled.stepSeq === stepSeq
    if (!isOnDisk) await this.logged
    const read = await (isOnDisk ? this.settled : this.live).checkpoint('', head.id)
    if (!read || this.#state.row.stepSeq !== stepSeq) return undefined
    this.#recent.remember(head.id, read.view)
    return toTuple(read)
  }

  /** Looks up the places that these steps build on; undefined if all of them are known. */
  ready(steps: readonly Step[]): Promise<void> | undefined {
    const sought = this.#places.soughtFor(steps, this.#state.row)
    if (sought.length === 0) return undefined
    const { ports: { log } } = this.#options
    const find = (name: string) => log.findCheckpoint(this.#state.row.branch!, name)
    return this.durable.then(() => this.#places.learn(sought, find))
  }

  /** Forgets what only a running execution needs. */
  forgetExecution(): void {
    this.#places.clear()
    this.#recent.keepOnly(this.#state.row.head?.id)
  }

  /** Begins a new log: the thread was deleted and its id is used again. */
  renew(purged: Promise<void>): void {
    const { applied } = this.#state
    this.begin({ ...onNewBranch(this.#options), applied }, purged)
  }

  /**
   * Starts over from a given state: an empty one, or the one that a copy takes over. Nothing of it
   * is written before what was there is `purged`.
   */
  begin(state: ThreadState, purged: Promise<void>): void {
    this.#earlier = this.quiet()
    this.release()
    this.forgetExecution()
    this.#state = state
    this.#writer = this.#newWriter(state, purged)
    this.#onDisk.restart(headOf(state))
    this.watcher?.begun()
  }

  /** Resolves when no write is under way any more, whether it landed or failed. */
  async quiet(): Promise<void> {
    await Promise.all([this.#earlier, this.#writer.quiet()])
  }

  /** Forgets remembered states. */
  release(): void {
    this.#recent.release()
  }

  #newWriter(state: ThreadState, earlier?: Promise<void>): LogWriter {
    const { ports: { log }, tenant, threadId, epoch, after, onLost } = this.#options
    const { epoch: lastEpoch, seq } = state.row
    const threadRow = (storedBytes: number) => rowOf(this.#state, storedBytes)
    const branch = () => this.#state.row.branch!
    const tail = { epoch: lastEpoch, seq }
    return new LogWriter({ log, tenant, threadId, epoch, tail, storedBytes: state.row.storedBytes,
      branch, threadRow, after, earlier, onLost })
  }

  #settling(written: Promise<void>): Promise<void> {
    return this.#onDisk.advance(headOf(this.#state), written)
  }

  #placesOf(record: RecordOf, { row }: ThreadState): CheckpointPlace[] {
    const { seq } = this.position
    switch (record.$case) {
      case 'checkpoint':
        return record.value.ns === ''
          ? [this.#advance(record.value)]
          : this.#places.ofCheckpoint(record.value, seq)
      case 'writes':
        return this.#places.ofWrites(record.value, row, seq)
      default:
        return []
    }
  }

  /** The place of the new head, whose view is remembered if its parent's is. */
  #advance({ id, parentId, full, changes }: Checkpoint): CheckpointPlace {
    const before = full ? ChannelView.empty : this.#recent.get(parentId)
    if (before) this.#recent.remember(id, before.apply(changes, full))
    return this.#state.row.head!
  }
}

/** The channels that make the state values; null: all but the engine's own. */
export type Channels = readonly string[] | string | null

type Checkpoint = Extract<RecordOf, { $case: 'checkpoint' }>['value']
