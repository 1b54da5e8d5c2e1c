/**
 * Appends and deletes as the log port promises them: first the log, then rows, then the ownership
 * check.
 *
 * Rules: [rows_last] [validate_after].
 */

import type { Env, OwnershipCheck } from '../../../cluster/index.ts'
import type { Branch } from '../../../proto/gen/storage/v1/row.ts'
import type { BranchSubject, LogPort, NewRow, PurgeSubject,
  RowUpdate } from '../../checkpoint/index.ts'
import { CodedError, goingAway, HeddleError } from '../../errors.ts'
import type { Connection } from './driver/connection.ts'
import type { LocalIndex } from './index/local-index.ts'
import type { OwnedRowTable } from './index/owned-row-table.ts'
import { encoded, idOf, ownedKey } from './index/owned-row.ts'
import type { OwnedTable, OwnedUpdate } from './index/owned-row.ts'
import type { BranchTable } from './log/branch-table.ts'
import { KeyedQueue } from './log/keyed-queue.ts'
import type { LogTable } from './log/log-table.ts'
import type { WriteTimestamp } from './log/write-timestamp.ts'
import { areOnlyBirths, begunThreads, bornIn, epochIn, isFirstOfCopy, isOwned,
  subjectOf } from './row-updates.ts'
import type { BillingTable } from './tables/billing-table.ts'
import type { RunTable } from './tables/run-table.ts'

/** The tables of one store that change with the log. `rank` makes the timestamps of writes. */
export interface LogPortParts {
  readonly env: Pick<Env, 'uuid'>
  readonly connection: Connection
  readonly rank: WriteTimestamp
  readonly log: LogTable
  readonly branches: BranchTable
  readonly runs: RunTable
  readonly billing: BillingTable
  readonly rows: Readonly<Record<OwnedTable, OwnedRowTable>>
  readonly index: LocalIndex
  /**
   * Passed in both commit modes: rows of threads and runs are plain writes in either mode, and a
   * server may be restarted in the other mode.
   */
  readonly check: Pick<OwnershipCheck, 'confirm'>
}

/** An update and the timestamp of what it writes. */
interface Ranked<Update = RowUpdate> {
  readonly update: Update
  readonly rank: bigint
}

/** Listener to an append, and the appends that must have succeeded before it. */
interface Appending {
  /** Called when the log has it. */
  readonly logged: (() => void) | undefined
  readonly births: readonly Promise<void>[]
  /** Branches that begin with it, and their threads with them. */
  readonly born: readonly string[]
}

/** Rows beside the log that one call changes. */
interface RowChanges {
  readonly rows: readonly NewRow[]
  readonly ranked: readonly Ranked[]
  /** Timestamp for removing runs that an earlier thread of the same id left. */
  readonly removal: bigint
  /** Earlier calls about the same subjects. */
  readonly before: Promise<unknown> | undefined
}

/**
 * The log of a member.
 *
 * 1. What a copy needs is noted before its first row.
 * 2. Rows of runs and their billing are written once the log is on a quorum and the ownership check
 *    has confirmed it after that. Rows of threads, assistants and crons come after those. So a row
 *    may lag behind the log and never leads it. The first row of a thread's log needs no check of
 *    its own: nobody can write to that log, or read it, who has not found the row of the thread,
 *    so what is on a quorum there is its history.
 * 3. Nothing is acknowledged or found before the ownership check has confirmed it after all of it.
 * 4. Calls about the same thread, assistant, cron or branch end in the order they were made.
 * 5. A new thread has no runs: a member that died before it wrote the row of a thread may have left
 *    rows of its runs, and clients create again what was not acknowledged. Only the command that
 *    makes an id needs no look at them: nobody knows the id, so no run was begun on it. Where a
 *    thread begins with a run, the write of the run removes them unseen.
 */
export class CassandraLog implements LogPort {
  readonly shared = true
  readonly #parts: LogPortParts
  /** By branch: calls on a copy that is being noted. */
  readonly #copies = new KeyedQueue()
  /** By thread, assistant and cron: calls in progress. */
  readonly #subjects = new KeyedQueue()
  /** By branch: the append in progress that writes its first row, and that of its thread. */
  readonly #births = new Map<string, Promise<void>>()
  /** By branch: appends in progress. */
  readonly #endings = new KeyedQueue()
  #epoch = 0
  #closed = false

  constructor(parts: LogPortParts) {
    this.#parts = parts
  }

  append(rows: readonly NewRow[], updates: readonly RowUpdate[],
    logged?: () => void): Promise<void> {
    const births = rows.flatMap(({ branch }) => this.#births.get(branch.id) ?? [])
    const born = bornIn(rows, updates)
    const appended = this.#append(rows, updates, { logged, births, born })
    for (const branchId of born) this.#births.set(branchId, appended)
    if (born.length > 0) {
      const forget = () => born.forEach((branchId) => this.#births.delete(branchId))
      appended.then(forget, forget)
    }
    return appended
  }

  async #append(rows: readonly NewRow[], updates: readonly RowUpdate[],
    { logged, births, born }: Appending): Promise<void> {
    if (this.#closed) throw goingAway()
    const epoch = this.#epochOf(rows, updates)
    // Timestamps follow the order of the calls.
    const removal = this.#parts.rank.next(epoch)
    const ranked = updates.map((update) => ({ update, rank: this.#parts.rank.next(epoch) }))
    const amongSubjects = this.#subjects.enter([...new Set(updates.map(subjectOf))])
    const amongBranches = this.#endings.enter([...new Set(rows.map(({ branch }) => branch.id))])
    try {
      await this.#appendRows(rows)
      // Rows of a deposed owner are not history, so no mutable row may be based on them.
      const isConfirmedOnce = areOnlyBirths(rows, updates, born)
      if (rows.length > 0 && updates.length > 0 && !isConfirmedOnce) {
        await this.#parts.check.confirm()
        logged?.()
      }
      // The row of a thread names its log: without it, nobody would find what is acknowledged here.
      await Promise.all(births)
      await this.#changeRows({ rows, ranked, removal, before: amongSubjects.before })
      await this.#parts.check.confirm()
      if (isConfirmedOnce) logged?.()
      await this.#parts.index.put(ranked.filter(isOwned).map(({ update }) => update))
      await amongBranches.before
    } finally {
      amongBranches.leave()
      amongSubjects.leave()
    }
  }

  newBranchId: LogPort['newBranchId'] = () => this.#parts.env.uuid()

  open: LogPort['open'] = async (branch, epoch) => (await this.#logOf(branch)).open(branch, epoch)

  tail: LogPort['tail'] = async (branch) => (await this.#logOf(branch)).tail(branch)

  read: LogPort['read'] = async (branch, range) => (await this.#logOf(branch)).read(branch, range)

  findCheckpoint: LogPort['findCheckpoint'] = async (branch, ...lookup) =>
    (await this.#logOf(branch)).findCheckpoint(branch, ...lookup)

  async purge(subject: PurgeSubject | BranchSubject): Promise<void> {
    if (this.#closed) throw goingAway()
    if (subject.table === 'branch') return this.#purgeLog(subject)
    const { table, tenant, id, epoch } = subject
    const { index, rank, rows, runs } = this.#parts
    // What is created again under this id comes later, or has higher timestamps.
    const removal = rank.next(epoch)
    const slot = this.#subjects.enter([ownedKey(table, tenant, id)])
    try {
      await slot.before
      await this.#purgeLog(subject)
      if (table === 'thread') await runs.removeAll(tenant, id, removal)
      // The row goes last: while it exists, an interrupted delete is done again.
      await rows[table].remove(tenant, id, removal)
      await index.remove(subject)
    } finally {
      slot.leave()
    }
  }

  /** Forgets branches and runs that other members may write to from now on. */
  forget(): void {
    this.#parts.log.forget()
    this.#parts.runs.forget()
  }

  /** Takes no more calls. Resolves when earlier calls have ended. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#copies.quiet()
    await this.#parts.log.close()
    await this.#subjects.quiet()
  }

  /** If the branch is a copy, waits until what it grew from is noted. */
  async #logOf(branch: Branch): Promise<LogTable> {
    await this.#copies.passed(branch.id)
    return this.#parts.log
  }

  /** Keeps the order of calls on a branch, whatever each of them has to wait for. */
  async #appendRows(rows: readonly NewRow[]): Promise<void> {
    if (rows.length === 0) return
    const copies = rows.filter(isFirstOfCopy)
    const ids = [...new Set(rows.map(({ branch }) => branch.id))]
    if (copies.length === 0 && ids.every((id) => this.#copies.passed(id) === undefined)) {
      return this.#parts.log.append(rows)
    }
    const slot = this.#copies.enter(ids)
    let appended: Promise<void>
    try {
      await slot.before
      for (const row of copies) await this.#noteCopy(row)
      appended = this.#parts.log.append(rows)
    } finally {
      slot.leave()
    }
    try {
      await appended
    } catch (error) {
      const unwritten = error instanceof CodedError && error.code === 'unavailable'
        && error.outcome === 'not_done'
      if (unwritten) { for (const row of copies) this.#unnoteCopy(row) }
      throw error
    }
  }

  /**
   * Takes back what was noted for a copy that was never made. Its source could otherwise never be
   * removed whole.
   */
  #unnoteCopy({ branch, epoch }: NewRow): void {
    this.#parts.connection.surely(() => this.#release(branch, epoch)).catch(() => {})
  }

  async #noteCopy(row: NewRow): Promise<void> {
    const { branches, log } = this.#parts
    const { branch, seq, epoch } = row
    if (await branches.noteCopy(row)) {
      // The copy itself has no rows yet, and is not read.
      const tail = await log.tail(branch, seq - 1)
      if (tail && tail.seq >= seq - 1) return
    }
    // A copy that already has rows was noted long ago, and the log will refuse the row.
    if (await log.tail({ id: branch.id, ancestors: [] })) return
    await this.#release(branch, epoch)
    throw new HeddleError('not_found', 'What this was to be a copy of is gone.')
  }

  /**
   * Changes the rows that the updates are about, those of runs first. What belongs to log rows that
   * are written is retried until it is done, and so are items, which have no log. Without either
   * the caller may ask again.
   */
  async #changeRows({ rows, ranked, removal, before }: RowChanges): Promise<void> {
    const { connection, runs } = this.#parts
    const isSure = rows.length > 0 || ranked.some(({ update }) => update.table === 'item')
    const change = (work: () => Promise<void>) => (isSure ? connection.surely(work) : work())
    const owned = ranked.filter(isOwned)
    const begun = begunThreads(rows, ranked.map(({ update }) => update))
    await Promise.all([
      ...begun.withoutRuns.map(({ tenant, threadId }) =>
        change(async () => {
          await before
          await runs.removeAll(tenant, threadId, removal)
        })
      ),
      ...ranked.map((each) => {
        const over = begun.withRuns.has(subjectOf(each.update)) ? removal : undefined
        return change(() => this.#changeRun(each, before, over))
      }),
    ])
    await before
    await Promise.all(owned.map((each) => change(() => this.#putOwned(each))))
  }

  async #changeRun({ update, rank }: Ranked, before: Promise<unknown> | undefined,
    over: bigint | undefined): Promise<void> {
    const { runs, billing } = this.#parts
    switch (update.table) {
      case 'billing':
        return billing.put(update.row, rank)
      case 'run':
        return runs.put({ row: update.row, body: update.body, rank, before, over })
      case 'run_removed':
        await before
        return runs.remove(update, rank)
      case 'item_removed':
        await before
        return this.#removeItem(update, rank)
    }
  }

  async #removeItem(update: RowUpdate & { readonly table: 'item_removed' },
    rank: bigint): Promise<void> {
    const { rows, index } = this.#parts
    if (!index.coversItem(update)) return
    await rows.item.remove(update.tenant, update.id, rank)
    await index.removeItem(update)
  }

  async #putOwned({ update, rank }: Ranked<OwnedUpdate>): Promise<void> {
    const { table, row: { tenant } } = update
    await this.#parts.rows[table].put({ tenant, id: idOf(update.row), body: encoded(update), rank })
  }

  async #purgeLog({ branch, epoch }: Pick<PurgeSubject, 'branch' | 'epoch'>): Promise<void> {
    await this.#copies.passed(branch.id)
    await this.#release(branch, epoch)
  }

  /**
   * Releases a branch. Also for a copy that was not made, as its source may be partly removed
   * already.
   */
  async #release(branch: Branch, epoch: number): Promise<void> {
    const { branches, log } = this.#parts
    for (const { branchId, after } of await branches.release(branch, epoch)) {
      // An ancestor had its own owners, whose epochs may be higher.
      const tail = await log.tail({ id: branchId, ancestors: [] })
      const highest = Math.max(epoch, tail?.epoch ?? 0)
      await log.cut({ branchId, after, epoch: highest })
      if (after === 0) await branches.forget(branchId)
    }
  }

  /**
   * The epoch of a call. Rows of runs do not carry one. If no row does, the updates are billing
   * rows, which are the same whichever owner writes them and with whichever timestamp.
   */
  #epochOf(rows: readonly NewRow[], updates: readonly RowUpdate[]): number {
    const speaking = updates.flatMap((each) => epochIn(each))
    const epochs = [...rows.map(({ epoch }) => epoch), ...speaking]
    const epoch = epochs.length > 0 ? Math.max(...epochs) : this.#epoch
    this.#epoch = Math.max(this.#epoch, epoch)
    return epoch
  }
}
