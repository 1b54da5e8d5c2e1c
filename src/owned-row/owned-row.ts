/**
 * The row of an actor that has one row and a log, such as an assistant or a cron: how an owner
 * reads it, writes it and deletes it.
 *
 * A write resolves when it is on disk, so whatever is in memory is durable. The log decides: an
 * owner that died may have left a row behind its log, or a deletion half done. `activate` repairs
 * both. Rule: [open_row].
 */

import { actorKeyText } from '../../cluster/index.ts'
import type { ActorContext, Env } from '../../cluster/index.ts'
import type { AppliedCommand, Branch } from '../../proto/gen/storage/v1/row.ts'
import { decodeRow, encodeRow } from '../checkpoint/index.ts'
import type { LogEntry, LogPort, PurgeSubject, RecordOf, RowUpdate } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'
import { objectIn } from '../json/index.ts'
import { matchesMetadata } from '../search/index.ts'
import type { MetadataFilter } from '../search/index.ts'
import { appliedRecords, findApplied, withApplied } from './applied-command.ts'
import { orFail } from './or-fail.ts'

/** The part of the log that such actors use. */
export type OwnedRowLog = Pick<LogPort,
  'shared' | 'newBranchId' | 'open' | 'append' | 'tail' | 'read' | 'purge'>

/** Fields that all such rows have: the owner, the place in the log, and what was done. */
export interface LoggedRow {
  readonly tenant: string
  /** Missing from rows of older versions. */
  readonly branch?: Branch | undefined
  readonly epoch: number
  readonly seq: number
  readonly applied: AppliedCommand[]
  /** Metadata as JSON, on which the filters of callers are tested. */
  readonly metadataJson: string
  /** Bytes of the log up to this row. */
  readonly storedBytes: number
}

/** Differences between kinds of rows. */
export interface OwnedRowKind<Row extends LoggedRow> {
  readonly table: PurgeSubject['table']
  /** Its name in messages, such as `Cron`. */
  readonly noun: string
  /** Kind of the record that deletes the row. */
  readonly deleted: RecordOf['$case']
  /** The row after a record that was read from the log; the same for a kind it does not know. */
  after(row: Row, record: RecordOf): Row | Promise<Row>
  updateOf(row: Row): RowUpdate
}

/** A record to append. */
export interface RowEntry<Row> {
  readonly record: RecordOf
  /** The row after the record; null if that deletes it. */
  readonly next: Row | null
  /** Id of the command that wrote it, if the command may be tried again. */
  readonly commandId?: string | undefined
}

/** Ports of a row, and what is called after each write that left a row. */
export interface OwnedRowParts<Row> {
  readonly log: OwnedRowLog
  readonly index: { get(tenant: string, id: string): Promise<Row | undefined> }
  readonly env: Pick<Env, 'nowMs'>
  readonly written?: (row: Row) => void
}

/** The branch of a row's log. Rows of older versions do not name it: it is the row's id then. */
export function branchOf({ branch }: Pick<LoggedRow, 'branch'>, id: string): Branch {
  return branch ?? { id, ancestors: [] }
}

/** One row, in the hands of its owner. Call `activate` first. */
export class OwnedRow<Row extends LoggedRow> {
  readonly #context: Pick<ActorContext, 'key' | 'epoch' | 'fail'>
  readonly #kind: OwnedRowKind<Row>
  readonly #parts: OwnedRowParts<Row>
  #current: Row | null = null

  constructor(context: Pick<ActorContext, 'key' | 'epoch' | 'fail'>, kind: OwnedRowKind<Row>,
    parts: OwnedRowParts<Row>) {
    this.#context = context
    this.#kind = kind
    this.#parts = parts
  }

  /** Null if there is none now. */
  get current(): Row | null {
    return this.#current
  }

  /** Throws `not_found` if there is none now. */
  get existing(): Row {
    if (this.#current === null) throw this.#notFound()
    return this.#current
  }

  /** Throws `not_found` if there is none now that matches the filter; without one, all match. */
  seenBy(allowed: MetadataFilter | undefined): Row {
    const row = this.existing
    if (allowed === undefined || matchesMetadata(allowed, objectIn(row.metadataJson))) return row
    throw this.#notFound()
  }

  /** Reads the row, and takes its log over. */
  async activate(): Promise<void> {
    const { log, index } = this.#parts
    const { key: { tenant, id }, epoch } = this.#context
    const stored = await index.get(tenant, id)
    if (stored === undefined) return
    const row = await this.#lives(stored) ? await this.#caughtUp(stored) : null
    // A deletion was cut off.
    if (row === null) return await this.#purge(stored)
    this.#current = row
    if (!log.shared || row.epoch === epoch) return
    // This also brings the stored row up to date.
    const record = { $case: 'opened', value: { epoch } } as const
    this.#current = await this.#append(row, { record, next: row })
  }

  /** True if the command was done already. It is answered with the current row then. */
  hasApplied(commandId: string | undefined): boolean {
    return findApplied(this.#current?.applied ?? [], commandId) !== undefined
  }

  /** Appends a record after `before`. Resolves with the row after it, once both are on disk. */
  async write(before: Row, entry: RowEntry<Row>): Promise<Row | null> {
    this.#current = await orFail(this.#context, this.#append(before, entry))
    return this.#current
  }

  /** Deletes the row, if it has this branch or none is given. Throws `not_found` otherwise. */
  async delete(record: RecordOf, branchId: string | undefined,
    commandId: string | undefined): Promise<void> {
    const row = this.existing
    if (branchId !== undefined && branchId !== this.#branchOf(row).id) throw this.#notFound()
    await this.write(row, { record, next: null, commandId })
    await orFail(this.#context, this.#purge(row))
  }

  async #append(before: Row, { record, next, commandId }: RowEntry<Row>): Promise<Row | null> {
    const { log, env, written } = this.#parts
    const { tenant, epoch: prevEpoch } = before
    const records = [record, ...appliedRecords(commandId, env.nowMs())]
    const { epoch } = this.#context
    const entry = { epoch, seq: before.seq + 1, body: encodeRow(records) }
    const row = next && placed(next, records, entry)
    const appended = { ...entry, tenant, branch: this.#branchOf(before), prevEpoch, places: [] }
    await log.append([appended], row === null ? [] : [this.#kind.updateOf(row)])
    if (row !== null) written?.(row)
    return row
  }

  /** False if its deletion was cut off: the rest of the log may end just where the row says. */
  async #lives(row: Row): Promise<boolean> {
    const { log } = this.#parts
    try {
      if (log.shared) await log.open(this.#branchOf(row), this.#context.epoch)
      return true
    } catch (error) {
      if (HeddleError.from(error).details.dead !== true) throw error
      return false
    }
  }

  /** The row as its log says; null if it was deleted. */
  async #caughtUp(stored: Row): Promise<Row | null> {
    const { log } = this.#parts
    const branch = this.#branchOf(stored)
    const tail = await log.tail(branch)
    if (tail === undefined) return null
    if (tail.seq === stored.seq) return stored
    let row = stored
    for (const entry of await log.read(branch, { from: stored.seq + 1, through: tail.seq })) {
      const records = decodeRow(entry.body)
      if (records.some(({ $case }) => $case === this.#kind.deleted)) return null
      for (const record of records) row = await this.#kind.after(row, record)
      row = placed(row, records, entry)
    }
    return row
  }

  #purge(row: Row): Promise<void> {
    const { key: { tenant, id }, epoch } = this.#context
    const { table } = this.#kind
    return this.#parts.log.purge({ table, tenant, id, branch: this.#branchOf(row), epoch })
  }

  #branchOf(row: Row): Branch {
    return branchOf(row, this.#context.key.id)
  }

  #notFound(): HeddleError {
    const { key } = this.#context
    return new HeddleError('not_found', `${this.#kind.noun} with ID ${key.id} not found.`, {
      actor: actorKeyText(key),
    })
  }
}

/** The row at the place of these records, with the commands that they name as done. */
function placed<Row extends LoggedRow>(row: Row, records: readonly RecordOf[],
  { epoch, seq, body }: LogEntry): Row {
  let { applied } = row
  for (const record of records) {
    if (record.$case !== 'commandApplied') continue
    const { commandId: id, atMs } = record.value
    applied = withApplied(applied, { id, seq, atMs })
  }
  return { ...row, applied, epoch, seq, storedBytes: row.storedBytes + body.byteLength }
}
