/** Writes a thread's log: what is decided in one turn of the event loop goes into one row. */

import type { Env } from '../../../cluster/index.ts'
import { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { Branch, CheckpointPlace, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { billingRow } from '../../billing/index.ts'
import { bytesInTurns, encodeRowInTurns, recordBytes } from '../../checkpoint/index.ts'
import type { LogPort, RecordOf, RowUpdate } from '../../checkpoint/index.ts'
import { heldMs } from './held-back.ts'
import type { HeldBack, HeldRow } from './held-back.ts'

/** Additions of one decision to the row that is being filled. */
export interface LogWriterEntry {
  readonly records: readonly RecordOf[]
  readonly places?: readonly CheckpointPlace[]
  /** Runs whose rows change, as they are now. */
  readonly runs?: Iterable<RunRow>
  readonly removedRunIds?: Iterable<string>
  /** Runs that end with it and are billed. */
  readonly billed?: readonly RunRow[]
  /** The thread's row changes with it; otherwise it is brought up to date by a later row. */
  readonly thread: boolean
}

interface OpenRow {
  readonly records: RecordOf[]
  readonly places: CheckpointPlace[]
  readonly runs: Map<string, RunRow>
  readonly removedRunIds: Set<string>
  readonly billed: RunRow[]
  thread: boolean
  bytes: number
  readonly durable: Promise<void>
  readonly settle: (appended: Promise<void>) => void
  readonly logged: PromiseWithResolvers<void>
  /** Set while the row waits for more: ends that wait. */
  stopWaiting: (() => void) | undefined
}

/**
 * now    a caller waits for it
 * soon   no caller does yet: it may wait for more that goes into the same row
 */
export type Urgency = 'now' | 'soon'

/** The thread's row is rewritten at least this often: loading reads no more rows behind it. */
const threadRowEvery = 256

/** A row with more takes no more records: rows are read as a whole. */
const fullBytes = 1024 * 1024

/** Wait of a row for more records. Nothing in it was acknowledged, so nothing can be lost. */
const patienceMs = 150

/** The log that is written, and where its next row goes. */
export interface LogWriterOptions {
  readonly log: LogPort
  readonly tenant: string
  readonly threadId: string
  readonly epoch: number
  /** The newest row of the log. */
  readonly tail: { readonly epoch: number; readonly seq: number }
  /** Bytes of the bodies of its rows. */
  readonly storedBytes: number
  readonly branch: () => Branch
  /** The thread's row as it is now, with that many stored bytes. */
  readonly threadRow: (storedBytes: number) => ThreadRow
  readonly after: Env['after']
  /** Awaited before the first row; if it rejects, no row is written. */
  readonly earlier: Promise<void> | undefined
  /** An append failed: the state in memory may not be true, and nothing may be decided on it. */
  readonly onLost: (reason: unknown) => void
}

/**
 * J1. Rows are numbered without gaps and name the one before.
 * J2. The first row of an epoch begins with the record that says so.
 * J3. The thread's row is never far behind, however long a run continues.
 * J4. A write resolves when it and every write before it are on disk, with all rows about it.
 */
export class LogWriter {
  readonly #options: LogWriterOptions
  #open: OpenRow | undefined
  #tail: { epoch: number; seq: number }
  #storedBytes: number
  #logged: Promise<void> = Promise.resolve()
  #isNewId = false
  readonly #underWay = new Set<Promise<void>>()
  /** While a long row is encoded, in several turns of the event loop: resolves after the last. */
  #encoding: Promise<void> | undefined
  /** Set while what is written is kept back. */
  #heldBack: HeldBack | undefined
  /** Resolves when the row that was kept back at first is on disk. */
  #kept: Promise<void> | undefined

  constructor(options: LogWriterOptions) {
    this.#options = options
    this.#tail = { ...options.tail }
    this.#storedBytes = options.storedBytes
  }

  /** The position of the next record. */
  get position(): { epoch: number; seq: number } {
    return { epoch: this.#options.epoch, seq: this.#tail.seq + 1 }
  }

  /** Bytes of the bodies of all rows that were sent off. */
  get storedBytes(): number {
    return this.#storedBytes
  }

  /** Resolves when what was written is in the log; rows about it may come later. */
  get logged(): Promise<void> {
    return this.#open?.logged.promise ?? this.#logged
  }

  /** Call before the first row if nothing was ever stored under the id of the thread. */
  noteNewId(): void {
    this.#isNewId = true
  }

  /** Keeps back what is written from now on, until it is hurried, or too much, or dropped. */
  holdBack(heldBack: HeldBack): void {
    this.#heldBack = heldBack
  }

  /** True while what is written is kept back. */
  get isHeldBack(): boolean {
    return this.#heldBack !== undefined
  }

  /** The row that is kept back, once there is one. */
  get held(): HeldRow | undefined {
    return this.#heldBack && this.#open && { ...this.position, ...this.#open }
  }

  /** Resolves when the row that was kept back, and is not any more, is on disk. */
  get kept(): Promise<void> | undefined {
    return this.#kept
  }

  /** Forgets what is kept back: nothing of it is ever written. */
  drop(): void {
    const row = this.#open
    this.#open = undefined
    this.#release()
    row?.stopWaiting?.()
    row?.settle(Promise.resolve())
    row?.logged.resolve()
  }

  #release(): void {
    if (!this.#heldBack) return
    this.#heldBack.end()
    this.#heldBack = undefined
    this.#kept = this.#open?.durable
  }

  /** Resolves when the entry is on disk. */
  write(entry: LogWriterEntry, urgency: Urgency): Promise<void> {
    const row = this.#open ??= this.#openRow()
    if (urgency === 'now' && !this.#heldBack) this.hurry()
    // One by one: V8 limits how many arguments a call may spread.
    for (const record of entry.records) {
      row.records.push(record)
      row.bytes += recordBytes(record)
    }
    for (const place of entry.places ?? []) row.places.push(place)
    for (const run of entry.runs ?? []) row.runs.set(run.runId, run)
    for (const runId of entry.removedRunIds ?? []) row.removedRunIds.add(runId)
    row.billed.push(...entry.billed ?? [])
    row.thread ||= entry.thread
    if (row.bytes > fullBytes || this.#heldBack?.takes(row.bytes) === false) this.#closeNow(row)
    return row.durable
  }

  /** Closes the open row in this tick, because a caller waits for what was written. */
  hurry(): void {
    this.#release()
    const row = this.#open
    if (!row?.stopWaiting) return
    row.stopWaiting()
    row.stopWaiting = undefined
    queueMicrotask(() => this.#close(row))
  }

  /** The records of the row that is being filled. */
  get waiting(): readonly RecordOf[] {
    return this.#open?.records ?? []
  }

  /** Closes the row that is being filled, if there is one. */
  seal(): void {
    if (this.#open) this.#closeNow(this.#open)
  }

  /**
   * Sends off what was written, before the state that it belongs to is replaced. Resolves when no
   * write is under way any more, whether it landed or failed.
   */
  async quiet(): Promise<void> {
    this.seal()
    await Promise.allSettled(this.#underWay)
  }

  #openRow(): OpenRow {
    const { epoch, after } = this.#options
    const { promise, resolve } = Promise.withResolvers<void>()
    const logged = Promise.withResolvers<void>()
    for (const each of [promise, logged.promise]) each.catch(() => {})
    const records: RecordOf[] = this.#tail.epoch === epoch
      ? []
      : [{ $case: 'opened', value: { epoch } }]
    return {
      records,
      places: [],
      runs: new Map(),
      removedRunIds: new Set(),
      billed: [],
      thread: false,
      bytes: 0,
      durable: promise,
      settle: resolve,
      logged,
      stopWaiting: after(this.#heldBack ? heldMs : patienceMs, () => this.hurry()),
    }
  }

  #closeNow(row: OpenRow): void {
    this.#release()
    row.stopWaiting?.()
    row.stopWaiting = undefined
    this.#close(row)
  }

  #close(row: OpenRow): void {
    if (this.#open !== row) return
    const { position } = this
    row.thread ||= position.seq % threadRowEvery === 0
    const appended = this.#append(row, position)
    this.#underWay.add(appended)
    this.#open = undefined
    this.#tail = position
    this.#logged = row.logged.promise
    row.settle(appended)
    appended.then(row.logged.resolve, row.logged.reject)
    const arrived = () => void this.#underWay.delete(appended)
    appended.then(arrived, (error: unknown) => {
      arrived()
      this.#options.onLost(error)
    })
  }

  /** Async from the start, so that a row that cannot be encoded rejects instead of throwing. */
  async #append(row: OpenRow, { epoch, seq }: { epoch: number; seq: number }): Promise<void> {
    const { log, tenant, branch, earlier } = this.#options
    const newRow = { tenant, branch: branch(), epoch, seq, prevEpoch: this.#tail.epoch,
      places: row.places, isNewId: this.#isNewId }
    this.#isNewId = false
    const body = encodeRowInTurns(row.records)
    if (body instanceof Uint8Array) this.#storedBytes += body.byteLength
    const updates = this.#updates(row)
    const append = (encoded: Uint8Array, rows: RowUpdate[]) =>
      log.append([{ ...newRow, body: encoded }], rows, row.logged.resolve)
    const isShort = body instanceof Uint8Array && !updates.some(isLong)
    if (this.#encoding === undefined && isShort) {
      if (earlier) await earlier
      return await append(body, updates)
    }
    await this.#appendInTurn(body, updates, append)
  }

  /** Appends a long row, and rows that come while one is encoded, in their order. */
  async #appendInTurn(body: Uint8Array | Promise<Uint8Array>, updates: readonly RowUpdate[],
    append: (body: Uint8Array, updates: RowUpdate[]) => Promise<void>): Promise<void> {
    const before = this.#encoding
    const encoded = Promise.withResolvers<void>()
    const mine = this.#encoding = encoded.promise
    let appended
    try {
      const [bytes, rows] = await Promise.all([body, Promise.all(updates.map(encodedRun)), before])
      if (this.#options.earlier) await this.#options.earlier
      if (!(body instanceof Uint8Array)) this.#storedBytes += bytes.byteLength
      appended = append(bytes, rows.map((update) => this.#sized(update)))
    } finally {
      if (this.#encoding === mine) this.#encoding = undefined
      encoded.resolve()
    }
    await appended
  }

  /** The row of the thread with all bytes up to now: some were encoded after it was made. */
  #sized(update: RowUpdate): RowUpdate {
    if (update.table !== 'thread') return update
    return { ...update, row: { ...update.row, storedBytes: this.#storedBytes } }
  }

  /** The thread's row comes last: if it is on disk, the rows of its runs are too. */
  #updates(row: OpenRow): RowUpdate[] {
    const { tenant, threadId } = this.#options
    const updates: RowUpdate[] = []
    for (const run of row.runs.values()) {
      if (!row.removedRunIds.has(run.runId)) updates.push({ table: 'run', row: run })
    }
    for (const runId of row.removedRunIds) {
      updates.push({ table: 'run_removed', tenant, threadId, runId })
    }
    updates.push(...row.billed.map(billingUpdate))
    const threadRow = row.thread && this.#options.threadRow(this.#storedBytes)
    if (threadRow) updates.push({ table: 'thread', row: threadRow })
    return updates
  }
}

/** Characters of a run: to encode more is worth several turns of the event loop. */
const longRun = 512 * 1024

/** The row of a run is as long as its input. */
function isLong(update: RowUpdate): boolean {
  if (update.table !== 'run') return false
  const { kwargsJson, interruptsJson } = update.row
  return kwargsJson.length + interruptsJson.length > longRun
}

async function encodedRun(update: RowUpdate): Promise<RowUpdate> {
  if (update.table !== 'run' || !isLong(update)) return update
  return { ...update, body: await bytesInTurns(RunRow, update.row) }
}

/** The billing record of a run that has ended. */
export function billingUpdate(run: RunRow): RowUpdate {
  return { table: 'billing', row: billingRow(run) }
}
