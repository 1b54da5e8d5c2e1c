/** Rows about one thread that its log has and their tables do not: the newest version of each. */

import type { RunRow, ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { RowUpdate } from '../../../checkpoint/index.ts'

/** Rows of an update that may be written later. */
export type LateUpdate = Extract<RowUpdate, { readonly table: 'thread' | 'run' }>

/** The thread of an append whose rows may be written later. */
export interface LateThread {
  readonly row: ThreadRow
  /** True if it has no row yet. That is written at once, and runs that it names may wait. */
  readonly isNew: boolean
}

/** An update, and the timestamp of its write. */
export interface RankedUpdate {
  readonly update: LateUpdate
  readonly rank: bigint
}

/** A row of a run that waits. */
export interface PendingRun {
  readonly row: RunRow
  readonly body?: Uint8Array | undefined
  readonly rank: bigint
}

/** The row of a thread that waits. */
export interface PendingThread {
  readonly row: ThreadRow
  readonly rank: bigint
}

/** Rows that are written together. */
export interface TakenRows {
  readonly runs: readonly PendingRun[]
  readonly thread: PendingThread | undefined
}

/** Bytes of a row besides its texts, about. */
const rowBytes = 600

/** Rows of one thread. Those that are being written count until that has succeeded. */
export class PendingRows {
  #runs = new Map<string, PendingRun>()
  #thread: PendingThread | undefined
  #taken: TakenRows | undefined
  #bytes = 0

  /** True if a row of a run is not written. */
  get hasRuns(): boolean {
    return this.#runs.size > 0 || (this.#taken?.runs.length ?? 0) > 0
  }

  /** True if nothing waits to be taken. */
  get isEmpty(): boolean {
    return this.#thread === undefined && this.#runs.size === 0
  }

  /** Number of all rows that are not written. */
  get size(): number {
    const taken = this.#taken ? this.#taken.runs.length + (this.#taken.thread ? 1 : 0) : 0
    return this.#runs.size + (this.#thread ? 1 : 0) + taken
  }

  /** Bytes of all rows that are not written, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** True if the thread has runs that have not ended. */
  get isBusy(): boolean {
    const { row } = this.#thread ?? this.#taken?.thread ?? {}
    return row !== undefined && row.unfinished.length > 0
  }

  /** Adds rows. Each replaces an earlier one that still waits. */
  note(updates: readonly RankedUpdate[]): void {
    for (const { update, rank } of updates) {
      if (update.table === 'thread') this.#put({ thread: { row: update.row, rank } })
      else this.#put({ run: { row: update.row, body: update.body, rank } })
    }
  }

  /** The row of a run, if it is not written. */
  runOf(runId: string): RunRow | undefined {
    const taken = this.#taken?.runs.find(({ row }) => row.runId === runId)
    return (this.#runs.get(runId) ?? taken)?.row
  }

  /**
   * Takes all rows, or those of runs alone, to write them. Then `written` or `failed` must be
   * called.
   */
  take({ runsOnly = false } = {}): TakenRows {
    const taken = { runs: [...this.#runs.values()], thread: runsOnly ? undefined : this.#thread }
    this.#taken = taken
    this.#runs = new Map()
    if (!runsOnly) this.#thread = undefined
    return taken
  }

  /** Forgets what was taken, which is written. */
  written(): void {
    this.#forgetTaken()
  }

  /** Lets what was taken wait again, unless something newer does. */
  failed(): void {
    const { runs, thread } = this.#forgetTaken()
    for (const run of runs) if (!this.#runs.has(run.row.runId)) this.#put({ run })
    if (thread && !this.#thread) this.#put({ thread })
  }

  #put({ run, thread }: { readonly run?: PendingRun; readonly thread?: PendingThread }): void {
    if (run) {
      this.#bytes += bytesOfRun(run) - bytesOfRun(this.#runs.get(run.row.runId))
      this.#runs.set(run.row.runId, run)
    }
    if (thread) {
      this.#bytes += bytesOfThread(thread) - bytesOfThread(this.#thread)
      this.#thread = thread
    }
  }

  #forgetTaken(): TakenRows {
    const { runs, thread } = this.#taken ?? { runs: [], thread: undefined }
    this.#taken = undefined
    this.#bytes -= bytesOfThread(thread)
    for (const run of runs) this.#bytes -= bytesOfRun(run)
    return { runs, thread }
  }
}

function bytesOfRun(run: PendingRun | undefined): number {
  if (run === undefined) return 0
  const { row, body } = run
  return rowBytes + (body?.byteLength ?? 0) + row.kwargsJson.length + row.metadataJson.length +
    row.planJson.length + row.interruptsJson.length + row.errorJson.length
}

function bytesOfThread(thread: PendingThread | undefined): number {
  if (thread === undefined) return 0
  const { row } = thread
  return rowBytes + row.metadataJson.length + row.configJson.length + row.interruptsJson.length +
    row.errorJson.length
}
