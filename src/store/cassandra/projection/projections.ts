/**
 * Rows of runs and threads that are written behind the acknowledgement.
 *
 * 1. The log has all that they say. A member that dies leaves rows that lag, and the next owner of
 *    the thread brings them up to date from the log before it answers about the thread.
 * 2. The next owner of a shard knows which threads these are: the row of a thread is marked as
 *    unsettled before anything is acknowledged whose rows wait. The mark goes with the write that
 *    leaves nothing behind. The next owner opens these threads before it answers searches.
 * 3. The row of a thread comes after the rows of its runs, as its `seq` says how far those are.
 * 4. Rows are written when the runs of the thread have ended and nothing has changed for a moment,
 *    when the oldest has waited long enough, or when somebody asks for them.
 *
 * Rule: [mark_first].
 */

import { limitConcurrency, throttleLog } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Connection } from '../driver/connection.ts'
import { WriteTimestamp } from '../log/write-timestamp.ts'
import type { RunTable } from '../tables/run-table.ts'
import { PendingRows } from './pending-rows.ts'
import type { LateThread, PendingThread, RankedUpdate } from './pending-rows.ts'

/** The rows of threads, with their marks. */
interface ThreadTable {
  shardOf(tenant: string, id: string): number
  put(
    row: { readonly tenant: string; readonly id: string; readonly body: Uint8Array;
      readonly rank: bigint; readonly unsettled?: boolean },
  ): Promise<void>
  mark(
    mark: { readonly tenant: string; readonly id: string; readonly unsettled: boolean;
      readonly rank: bigint },
  ): Promise<void>
}

/** The tables that are written late. */
export interface ProjectionParts {
  readonly env: Pick<Env, 'after' | 'monotonicMs' | 'log'>
  readonly connection: Pick<Connection, 'surely'>
  readonly runs: Pick<RunTable, 'put'>
  readonly threads: ThreadTable
}

/** An append whose rows may be written later. */
export interface LateRows {
  /** Resolves when the thread is marked on a quorum: nothing is acknowledged before. */
  readonly marked: Promise<void>
  /** True if the thread has no row yet: the one that the append writes has the mark. */
  readonly isNew: boolean
  /** The row of a new thread is written. */
  hasMarked(): void
  /** Notes rows that are history. */
  note(updates: readonly RankedUpdate[]): void
  /** The append has ended, or failed. */
  leave(): void
}

/** Rows that wait to be written behind the acknowledgement, for metrics. */
export interface ProjectionStats {
  readonly rows: number
  readonly bytes: number
  /** Age of the oldest row, in milliseconds. */
  readonly oldestMs: number
  /** Writes that failed and were tried again. */
  readonly failures: number
  /** Threads whose rows could not be written the last time. */
  readonly failing: number
}

/** A thread whose row is marked, or about to be. */
interface Unsettled {
  readonly tenant: string
  readonly threadId: string
  readonly shard: number
  readonly rows: PendingRows
  /** Newest epoch of its owner. */
  epoch: number
  /** Appends in progress. */
  appends: number
  /** Resolves when the mark is written. Undefined if the row may have no mark. */
  marked: Promise<void> | undefined
  /** Time since which a row waits, and of the last change. */
  sinceMs: number
  changedMs: number
  writing: Promise<void> | undefined
  /** Time before which nothing is tried again. */
  againMs: number
  timer: { readonly atMs: number; stop(): void } | undefined
}

/**
 * runs   rows of runs: readers of runs need no more
 * all    the row of the thread as well, without its mark
 */
type Extent = 'runs' | 'all'

/** Quiet time after which rows are written. A client that goes on at once has them merged. */
const quietMs = 1_000
/** Longest time for which a row waits. The next owner reads so much of the log again. */
const longestMs = 5_000
/** Pause before rows that could not be written are tried again. */
const pauseMs = 1_000
/** Rows of one thread that wait at most. */
const rowsMax = 128
/** Bytes of all rows that wait at most. Above them, rows are written before the acknowledgement. */
const bytesMax = 32 * 1024 * 1024
/** Marked threads in a shard. The next owner opens all of them before it answers searches. */
const marksMax = 64
/** Threads that are written at the same time when all are asked for. */
const atOnce = 32
/** Time between two reports of failures. */
const reportMs = 10_000

/** The rows of one member that wait. Belongs to its store. */
export class Projections {
  readonly #parts: ProjectionParts
  readonly #rank = new WriteTimestamp()
  readonly #threads = new Map<string, Unsettled>()
  /** By shard: number of threads. */
  readonly #counts = new Map<number, number>()
  readonly #inTurn = limitConcurrency(atOnce)
  readonly #report: ReturnType<typeof throttleLog>
  #bytes = 0
  #failures = 0
  #isClosed = false

  constructor(parts: ProjectionParts) {
    this.#parts = parts
    this.#report = throttleLog(parts.env, reportMs)
  }

  get stats(): ProjectionStats {
    const nowMs = this.#parts.env.monotonicMs()
    const waiting = [...this.#threads.values()].filter(({ rows }) => rows.size > 0)
    return {
      rows: waiting.reduce((sum, { rows }) => sum + rows.size, 0),
      bytes: this.#bytes,
      oldestMs: Math.max(0, ...waiting.map(({ sinceMs }) => nowMs - sinceMs)),
      failures: this.#failures,
      failing: waiting.filter(({ againMs }) => againMs > 0).length,
    }
  }

  /**
   * Begins an append about a thread. Undefined if its rows must be written before the
   * acknowledgement, because too much waits.
   */
  enter({ row: { tenant, threadId }, isNew }: LateThread, epoch: number): LateRows | undefined {
    if (isNew && this.has(tenant, threadId)) return undefined
    const thread = this.#roomFor(tenant, threadId, epoch)
    if (thread === undefined) return undefined
    thread.appends++
    thread.epoch = epoch
    const made = isNew ? Promise.withResolvers<void>() : undefined
    made?.promise.catch(() => {})
    let isMade = false
    thread.marked ??= made?.promise ?? this.#mark(thread)
    return {
      marked: thread.marked,
      isNew,
      hasMarked: () => {
        isMade = true
        made?.resolve()
      },
      note: (updates) => {
        const { env } = this.#parts
        thread.changedMs = env.monotonicMs()
        if (thread.rows.size === 0) thread.sinceMs = thread.changedMs
        this.#change(thread, (rows) => rows.note(updates))
      },
      leave: () => {
        thread.appends--
        if (made && !isMade) this.#giveUp(thread, made)
        // After a failed creation, the last append that waited for it removes the thread.
        if (isSettled(thread) && !thread.writing) this.#remove(thread)
        else this.#setTimer(thread)
      },
    }
  }

  /** The thread could not be created, so it has no mark. */
  #giveUp(thread: Unsettled, made: PromiseWithResolvers<void>): void {
    if (thread.marked !== made.promise) return
    made.reject(new HeddleError('unavailable', 'The thread could not be created.'))
    thread.marked = undefined
  }

  /** True if rows of the thread wait, or its row is marked by this member. */
  has(tenant: string, threadId: string): boolean {
    return this.#threads.has(keyOf(tenant, threadId))
  }

  /** The row of a run, if it waits. */
  runOf(tenant: string, threadId: string, runId: string): RunRow | undefined {
    return this.#threads.get(keyOf(tenant, threadId))?.rows.runOf(runId)
  }

  /** Resolves when the runs of a thread that wait now are written. Throws if one cannot be. */
  async writtenRuns(tenant: string, threadId: string): Promise<void> {
    const thread = this.#threads.get(keyOf(tenant, threadId))
    if (thread) await this.#written(thread, 'runs')
  }

  /** The same for the runs of a tenant. */
  async writtenRunsOf(tenant: string): Promise<void> {
    await this.#all('runs', (thread) => thread.tenant === tenant)
  }

  /** Resolves when all that waits now of a thread is written. Throws if it cannot be. */
  async written(tenant: string, threadId: string): Promise<void> {
    const thread = this.#threads.get(keyOf(tenant, threadId))
    if (thread) await this.#written(thread, 'all')
  }

  /** The same for the threads of a shard. */
  async writtenIn(shard: number): Promise<void> {
    if (this.#counts.has(shard)) await this.#all('all', (thread) => thread.shard === shard)
  }

  /**
   * Forgets a thread that is about to be removed, once its runs are written: who removes all runs
   * of a thread finds only those that are.
   */
  async forget(tenant: string, threadId: string): Promise<void> {
    const thread = this.#threads.get(keyOf(tenant, threadId))
    if (thread === undefined) return
    await this.#written(thread, 'runs')
    await thread.writing
    this.#remove(thread)
  }

  /** Writes what waits, and lets nothing wait any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#all('all', () => true)
  }

  #roomFor(tenant: string, threadId: string, epoch: number): Unsettled | undefined {
    if (this.#isClosed || this.#bytes >= bytesMax) return undefined
    const key = keyOf(tenant, threadId)
    const known = this.#threads.get(key)
    if (known) return known.rows.size < rowsMax ? known : undefined
    const shard = this.#parts.threads.shardOf(tenant, threadId)
    const count = this.#counts.get(shard) ?? 0
    if (count >= marksMax) return undefined
    const nowMs = this.#parts.env.monotonicMs()
    const thread: Unsettled = { tenant, threadId, shard, epoch, rows: new PendingRows(), appends: 0,
      marked: undefined, sinceMs: nowMs, changedMs: nowMs, writing: undefined, againMs: 0,
      timer: undefined }
    this.#counts.set(shard, count + 1)
    this.#threads.set(key, thread)
    return thread
  }

  #isKept(thread: Unsettled): boolean {
    return this.#threads.get(keyOf(thread.tenant, thread.threadId)) === thread
  }

  #remove(thread: Unsettled): void {
    if (!this.#isKept(thread)) return
    this.#threads.delete(keyOf(thread.tenant, thread.threadId))
    thread.timer?.stop()
    this.#bytes -= thread.rows.bytes
    const left = this.#counts.get(thread.shard)! - 1
    if (left > 0) this.#counts.set(thread.shard, left)
    else this.#counts.delete(thread.shard)
  }

  #mark(thread: Unsettled): Promise<void> {
    const { connection } = this.#parts
    const rank = this.#rank.next(thread.epoch)
    const marked = connection.surely(() => this.#putMark(thread, true, rank))
    marked.catch(() => {})
    return marked
  }

  #putMark({ tenant, threadId: id }: Unsettled, unsettled: boolean, rank: bigint): Promise<void> {
    return this.#parts.threads.mark({ tenant, id, unsettled, rank })
  }

  #change(thread: Unsettled, change: (rows: PendingRows) => void): void {
    const before = thread.rows.bytes
    change(thread.rows)
    if (this.#isKept(thread)) this.#bytes += thread.rows.bytes - before
  }

  async #all(extent: Extent, isMeant: (thread: Unsettled) => boolean): Promise<void> {
    const threads = [...this.#threads.values()].filter(isMeant)
    await Promise.all(
      threads.map((thread) => this.#inTurn(() => this.#written(thread, extent))),
    )
  }

  /** A write that is in progress may lack the newest rows. The next one has them. */
  async #written(thread: Unsettled, extent: Extent): Promise<void> {
    const isDone = () => (extent === 'runs' ? !thread.rows.hasRuns : isSettled(thread))
    while (thread.writing && !isDone()) await thread.writing.catch(() => {})
    if (!isDone()) await this.#begin(thread, extent)
  }

  #begin(thread: Unsettled, extent: Extent): Promise<void> {
    thread.timer?.stop()
    thread.timer = undefined
    const writing = this.#write(thread, extent).finally(() => {
      thread.writing = undefined
      if (isSettled(thread)) this.#remove(thread)
      else this.#setTimer(thread)
    })
    thread.writing = writing
    writing.catch(() => {})
    return writing
  }

  async #write(thread: Unsettled, extent: Extent): Promise<void> {
    const { runs: table, env } = this.#parts
    const { runs, thread: row } = thread.rows.take({ runsOnly: extent === 'runs' })
    try {
      await Promise.all(runs.map((run) => table.put(run)))
      if (extent === 'all') await this.#writeThread(thread, row)
      this.#change(thread, (rows) => rows.written())
      thread.againMs = 0
      if (extent === 'all') thread.sinceMs = env.monotonicMs()
    } catch (error) {
      this.#failures++
      this.#change(thread, (rows) => rows.failed())
      thread.againMs = env.monotonicMs() + pauseMs
      this.#report((omitted) =>
        env.log.warn('Rows about a thread cannot be written yet; they are tried again.', {
          threadId: thread.threadId,
          omitted,
          error,
        })
      )
      throw error
    }
  }

  /**
   * Writes the row, and takes the mark away if nothing is left behind. An append that begins
   * meanwhile marks the thread again, with a higher timestamp.
   */
  async #writeThread(thread: Unsettled, row: PendingThread | undefined): Promise<void> {
    const { tenant, threadId: id } = thread
    const settles = thread.appends === 0 && thread.rows.isEmpty
    if (settles) thread.marked = undefined
    if (row !== undefined) {
      const { threads } = this.#parts
      await threads.put({ tenant, id, body: bytesOf(ThreadRow, row.row), rank: row.rank,
        unsettled: !settles })
    } else if (settles) await this.#putMark(thread, false, this.#rank.next(thread.epoch))
  }

  /** Sets the one timer of a thread, unless it is early enough. */
  #setTimer(thread: Unsettled): void {
    const { env } = this.#parts
    const waitsForAppends = thread.appends > 0 && thread.rows.isEmpty
    // An append may end after its thread was forgotten, and its row removed.
    const isDone = isSettled(thread) || !this.#isKept(thread)
    if (thread.writing || waitsForAppends || isDone) return
    const atMs = dueMsOf(thread)
    if (thread.timer && thread.timer.atMs <= atMs) return
    thread.timer?.stop()
    const stop = env.after(Math.max(0, atMs - env.monotonicMs()), () => {
      thread.timer = undefined
      if (dueMsOf(thread) > env.monotonicMs()) this.#setTimer(thread)
      else if (!thread.writing) this.#begin(thread, 'all').catch(() => {})
    })
    thread.timer = { atMs, stop }
  }
}

function keyOf(tenant: string, threadId: string): string {
  return `${tenant}\n${threadId}`
}

/** True if the row in Cassandra has all that was acknowledged, and no mark of this member. */
function isSettled({ appends, rows, marked }: Unsettled): boolean {
  return appends === 0 && rows.size === 0 && marked === undefined
}

/** Time at which the rows are to be written. A busy thread waits for the end of its runs. */
function dueMsOf({ rows, sinceMs, changedMs, againMs }: Unsettled): number {
  if (rows.size > rowsMax / 2) return againMs
  const latestMs = rows.size === 0 ? Infinity : sinceMs + longestMs
  return Math.max(againMs, rows.isBusy ? latestMs : Math.min(latestMs, changedMs + quietMs))
}
