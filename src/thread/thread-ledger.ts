/** A thread's state and the journal that makes it true: the only place where either changes. */

import type { Env } from '../../cluster/index.ts'
import type { CheckpointPlace, RunRow } from '../../proto/gen/storage/v1/row.ts'
import { ChannelView, CheckpointReader, decodeRow, toTuple } from '../checkpoint/index.ts'
import type { JsonText, LogHead, LogPort, RecordOf, StoredTuple } from '../checkpoint/index.ts'
import type { Step } from '../graph/index.ts'
import type { ThreadIndex } from '../records/index.ts'
import type { ByteBudget } from './byte-budget.ts'
import { HeddleError } from '../errors.ts'
import { billingUpdate, Journal } from './journal.ts'
import type { JournalEntry, Urgency } from './journal.ts'
import { StepPlaces } from './step-places.ts'
import { apply, fromRow, rowOf, runChanges, unborn } from './thread-state.ts'
import type { RunChanges, ThreadState } from './thread-state.ts'
import { unfinishedRuns } from './unfinished-run.ts'

export interface LedgerPorts {
  readonly log: LogPort
  readonly threads: Pick<ThreadIndex, 'get'>
  /** Whether a record is made of each run that is over; unless told, none is. */
  readonly billing?: boolean
  /** What all threads of this member together may remember of states. */
  readonly views: ByteBudget<ThreadLedger>
}

export interface LedgerOptions {
  readonly ports: LedgerPorts
  readonly tenant: string
  readonly threadId: string
  readonly epoch: number
  /** For a thread that does not exist yet. */
  readonly newBranchId: string
  readonly after: Env['after']
  readonly onLost: (reason: unknown) => void
  /**
   * Called once for each try with what was found. What it writes at once travels in the first row
   * of the epoch: whoever goes on with a run waits for one row instead of two.
   */
  readonly found?: (ledger: ThreadLedger) => void
}

const loadTriesMax = 3

/** Views of recent checkpoints that events may still refer to. */
const recentViewsMax = 8

export class ThreadLedger {
  #state: ThreadState
  #journal: Journal
  readonly #options: LedgerOptions
  /** As `#state`, of what is on disk. */
  #settled: LogHead
  #durable: Promise<void> = Promise.resolve()
  /** Resolves when the logs that this thread had before are quiet. */
  #earlier: Promise<void> = Promise.resolve()
  readonly #recent = new Map<string, ChannelView>()
  readonly #places = new StepPlaces()
  /** Reads what was written, on disk or on its way: for the executions that wrote it. */
  readonly live: CheckpointReader
  /** Reads what is on disk: for everybody else. */
  readonly settled: CheckpointReader

  private constructor(options: LedgerOptions, state: ThreadState) {
    this.#options = options
    this.#state = state
    this.#journal = this.#newJournal(state)
    this.#settled = headOf(state)
    this.live = new CheckpointReader(options.ports.log, () => headOf(this.#state))
    this.settled = new CheckpointReader(options.ports.log, () => this.#settled)
  }

  /**
   * Loads a thread: its row, and what the log says beyond it. What an owner before this one sent
   * may still arrive: then the log is read again.
   */
  static async load(options: LedgerOptions): Promise<ThreadLedger> {
    for (let tries = 1; ; tries++) {
      try {
        return await ThreadLedger.#loadOnce(options)
      } catch (error) {
        const stale = error instanceof HeddleError && error.code === 'stale_append'
        if (!stale || tries === loadTriesMax) throw error
      }
    }
  }

  static async #loadOnce(options: LedgerOptions): Promise<ThreadLedger> {
    const { ports: { log, threads }, tenant, threadId } = options
    const row = await threads.get(tenant, threadId)
    if (!row) {
      const branch = { id: options.newBranchId, ancestors: [] }
      const ledger = new ThreadLedger(options, unborn(tenant, threadId, branch))
      options.found?.(ledger)
      return ledger
    }
    // Of a deleted thread there may be no log left that could be opened.
    if (log.shared && !row.deleted) await log.open(row.branch!, options.epoch)
    const rest = { from: row.seq + 1, through: Number.MAX_SAFE_INTEGER }
    const [unfinished, entries] =
      await Promise.all([unfinishedRuns(log, row), log.read(row.branch!, rest)])
    let state = fromRow(row, unfinished)
    const lag = new RunRows()
    for (const entry of entries) {
      for (const record of decodeRow(entry.body)) {
        const before = state
        state = apply(state, record, entry)
        lag.note(runChanges(record, before, state, entry.seq))
      }
    }
    const foreign = log.shared && state.row.epoch !== options.epoch && !state.row.deleted
    let opened = !foreign
    const onLost = (reason: unknown) => { if (opened) options.onLost(reason) }
    const ledger = new ThreadLedger({ ...options, onLost }, state)
    const isNews = state.row.deleted && !row.deleted
    const settled = foreign ? ledger.#openEpoch(lag)
      : log.shared ? ledger.#bill(lag, isNews) : undefined
    options.found?.(ledger)
    await settled
    opened = true
    return ledger
  }

  get state(): ThreadState { return this.#state }
  /** Where the next record will stand. */
  get position(): { epoch: number; seq: number } { return this.#journal.position }
  /** Resolves when everything written so far is on disk: whoever asks for it is in a hurry. */
  get durable(): Promise<void> {
    this.#journal.hurry()
    return this.#durable
  }

  /** As `durable`, and perhaps before it: the log has it, and rows about it lag behind. */
  get logged(): Promise<void> {
    this.#journal.hurry()
    return this.#journal.logged
  }

  /** Whether anything that was written is not on disk, on its way there or lost. */
  get unsettled(): boolean { return this.#settled.seq < this.#state.row.seq }

  /** Makes records true: in the state at once, on disk when the result resolves. */
  write(records: readonly RecordOf[], urgency: Urgency = 'now'): Promise<void> {
    const places: CheckpointPlace[] = []
    const rows = new RunRows()
    let thread = false
    // All of them or, where one must not be, none.
    let state = this.#state
    const states = records.map((record) => (state = apply(state, record, this.position)))
    for (const [i, record] of records.entries()) {
      const before = this.#state
      this.#state = states[i]!
      places.push(...this.#placesOf(record, before))
      if (isStep(record)) continue
      thread = true
      rows.note(runChanges(record, before, this.#state, this.position.seq))
    }
    return this.#settling(this.#journal.write(
      { records, places, ...this.#changesOf(rows), thread }, urgency))
  }

  /** The first row of the epoch, and with it every row that lags behind the log. */
  #openEpoch(lag: RunRows): Promise<void> {
    const { epoch } = this.position
    this.#state = apply(this.#state, { $case: 'opened', value: { epoch } }, this.position)
    const entry = { records: [], ...this.#changesOf(lag), thread: true }
    return this.#settling(this.#journal.write(entry, 'now'))
  }

  #changesOf(rows: RunRows): Pick<JournalEntry, 'runs' | 'removedRunIds' | 'billed'> {
    const { changed, removedRunIds } = rows
    return { runs: changed.values(), removedRunIds, billed: this.#billed(rows) }
  }

  /**
   * Of a thread that is purged next: what is billed stays. Where the log alone tells of the delete,
   * the row does so first: what an interrupted purge leaves of the log can be opened by nobody.
   */
  async #bill(lag: RunRows, isNews: boolean): Promise<void> {
    const { ports: { log }, epoch } = this.#options
    const updates = this.#billed(lag).map(billingUpdate)
    if (isNews) updates.push({ table: 'thread', row: { ...rowOf(this.#state), epoch } })
    if (updates.length > 0) await log.append([], updates)
  }

  #billed({ over }: RunRows): readonly RunRow[] {
    return this.#options.ports.billing ? over : []
  }

  /** What a row of the log says, once it is on disk. */
  async recordsAt(seq: number): Promise<RecordOf[]> {
    await this.durable
    const { ports: { log } } = this.#options
    const entries = await log.read(this.#state.row.branch!, { from: seq, through: seq })
    return entries.flatMap(({ body }) => decodeRow(body))
  }

  /** Removes places of checkpoints that a rollback dropped, in the row that is being filled. */
  forget(places: readonly CheckpointPlace[]): void {
    void this.#journal.write({ records: [], places, thread: true }, 'now')
  }

  /** The state values at a checkpoint, as JSON. */
  async values(checkpointId: string, channels: Channels): Promise<JsonText> {
    const view = this.recentView(checkpointId) ?? await this.settled.view('', checkpointId)
    if (!view) throw new HeddleError('not_found', `There is no checkpoint ${checkpointId} here.`)
    if (this.#state.row.head?.id === checkpointId) this.#remember(checkpointId, view)
    return valuesJson(view, channels)
  }

  /** Throws `not_found` for a checkpoint that is not on disk as part of history. */
  async mustHave(ns: string, checkpointId: string): Promise<void> {
    if (ns === '' && this.#state.row.head?.id === checkpointId) return
    await this.durable
    if (await this.settled.view(ns, checkpointId)) return
    throw new HeddleError('not_found', `Checkpoint ${checkpointId} not found on this thread.`)
  }

  recentView(checkpointId: string): ChannelView | undefined {
    return this.#recent.get(checkpointId)
  }

  /**
   * Loads the head where its view is not remembered, so that coming steps extend that; undefined
   * where nothing was loaded, or the head is another one by now.
   */
  async loadHead(): Promise<StoredTuple | undefined> {
    const { head, stepSeq } = this.#state.row
    if (!head || this.#recent.has(head.id)) return undefined
    const settled = this.#settled
    const isOnDisk = settled.head?.id === head.id && settled.stepSeq === stepSeq
    if (!isOnDisk) await this.logged
    const read = await (isOnDisk ? this.settled : this.live).checkpoint('', head.id)
    if (!read || this.#state.row.stepSeq !== stepSeq) return undefined
    this.#remember(head.id, read.view)
    return toTuple(read)
  }

  /** Looks up what these steps cannot be written without; undefined where all is known. */
  ready(steps: readonly Step[]): Promise<void> | undefined {
    const sought = this.#places.soughtFor(steps, this.#state.row)
    return sought.length > 0 ? this.#lookUp(sought) : undefined
  }

  async #lookUp(sought: readonly string[]): Promise<void> {
    await this.durable
    const { ports: { log } } = this.#options
    await this.#places.learn(sought, (name) => log.findCheckpoint(this.#state.row.branch!, name))
  }

  /** Forgets what only a running execution needs. */
  rest(): void {
    this.#places.clear()
    const { head } = this.#state.row
    for (const id of this.#recent.keys()) if (id !== head?.id) this.#recent.delete(id)
  }

  /** Begins a new log: the thread was deleted and its id is used again. */
  renew(branchId: string, purged: Promise<void>): void {
    const { tenant, threadId } = this.#options
    const { heard } = this.#state
    this.begin({ ...unborn(tenant, threadId, { id: branchId, ancestors: [] }), heard }, purged)
  }

  /**
   * Starts over from a given state: an empty one, or the one that a copy takes over. What was there
   * before is `purged` before anything of it is on disk.
   */
  begin(state: ThreadState, purged: Promise<void>): void {
    this.#earlier = this.quiet()
    this.release()
    this.rest()
    this.#state = state
    this.#journal = this.#newJournal(state, purged)
    this.#settled = headOf(state)
  }

  /** Resolves when nothing of it is on its way to disk any more, arrived or not. */
  async quiet(): Promise<void> {
    await Promise.all([this.#earlier, this.#journal.quiet()])
  }

  /** Lets go of remembered states. */
  release(): void {
    this.#recent.clear()
    this.#options.ports.views.release(this)
  }

  #newJournal(state: ThreadState, earlier?: Promise<void>): Journal {
    const { ports: { log }, tenant, threadId, epoch, after, onLost } = this.#options
    const { epoch: lastEpoch, seq } = state.row
    const threadRow = () => rowOf(this.#state)
    const tail = { epoch: lastEpoch, seq }
    return new Journal({ log, tenant, threadId, epoch, tail, threadRow, after, earlier, onLost })
  }

  #settling(durable: Promise<void>): Promise<void> {
    const head = headOf(this.#state)
    this.#durable = durable.then(() => {
      if (head.branch === this.#state.row.branch && head.seq >= this.#settled.seq) {
        this.#settled = head
      }
    })
    this.#durable.catch(() => {})
    return this.#durable
  }

  #placesOf(record: RecordOf, { row }: ThreadState): CheckpointPlace[] {
    const { seq } = this.position
    switch (record.$case) {
      case 'checkpoint': return record.value.ns === '' ? [this.#advance(record.value)]
        : this.#places.ofCheckpoint(record.value, seq)
      case 'writes': return this.#places.ofWrites(record.value, row, seq)
      default: return []
    }
  }

  /** The head is another one. */
  #advance({ id, parentId, full, changes }: Checkpoint): CheckpointPlace {
    const before = full ? ChannelView.empty : this.#recent.get(parentId)
    if (before) this.#remember(id, before.apply(changes, full))
    return this.#state.row.head!
  }

  #remember(id: string, view: ChannelView): void {
    this.#recent.delete(id)
    this.#recent.set(id, view)
    const [oldest] = this.#recent.keys()
    if (this.#recent.size > recentViewsMax && oldest !== undefined) this.#recent.delete(oldest)
    this.#options.ports.views.hold(this, view.bytes, () => this.#recent.clear())
  }
}

/** What records changed of the rows of runs, taken together. */
class RunRows {
  readonly changed = new Map<string, RunRow>()
  readonly removedRunIds = new Set<string>()
  readonly over: RunRow[] = []

  note({ changed, removedRunIds, over }: RunChanges): void {
    this.over.push(...over)
    if (changed) this.changed.set(changed.runId, changed)
    for (const runId of removedRunIds) this.removedRunIds.add(runId)
  }
}

/** Which channels make the state values; null for all that are not the engine's own. */
export type Channels = readonly string[] | string | null

function valuesJson(view: ChannelView, channels: Channels): JsonText {
  return view.json(channels ?? view.names().filter((name) => !/^(__|branch:)/.test(name)))
}

type Checkpoint = Extract<RecordOf, { $case: 'checkpoint' }>['value']

/** Steps alone leave the thread's row behind; loading catches up. */
function isStep(record: RecordOf): boolean {
  return record.$case === 'checkpoint' || record.$case === 'writes' || record.$case === 'told'
}

function headOf({ row }: ThreadState): LogHead {
  const { seq, stepSeq, movedBack } = row
  return { branch: row.branch!, seq, stepSeq, head: row.head ?? null, movedBack }
}
