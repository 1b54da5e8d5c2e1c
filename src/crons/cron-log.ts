/** Entries of a cron's log: how they are appended, and how the row is brought up to them. */

import type { Branch, CronRow } from '../../proto/gen/storage/v1/row.ts'
import { withApplied } from '../assistants/index.ts'
import { decodeRow, encodeRow } from '../checkpoint/index.ts'
import type { LogPort, RecordOf } from '../checkpoint/index.ts'
import { afterRecord } from './cron.ts'

/** The part of the log that crons use. */
export type CronLog = Pick<LogPort,
  'shared' | 'newBranchId' | 'open' | 'append' | 'tail' | 'read' | 'purge'>

/** Content of one row of a cron's log. */
export interface CronEntry {
  readonly record: RecordOf
  /** Id of the command that wrote it, if the command may be tried again. */
  readonly commandId?: string | undefined
}

/** The branch of a cron's log. */
export function branchOf({ cronId, branch }: CronRow): Branch {
  return branch ?? { id: cronId, ancestors: [] }
}

/** Appends an entry after the position of `row`. Returns the row after it; null if deleted. */
export async function appendEntry(log: CronLog, epoch: number, row: CronRow,
  { record, commandId }: CronEntry): Promise<CronRow | null> {
  const { tenant } = row
  const seq = row.seq + 1
  const note = commandId === undefined
    ? []
    : [{ $case: 'commandApplied', value: { commandId } } as const]
  const body = encodeRow([record, ...note])
  const { byteLength } = body
  const logged = { tenant, branch: branchOf(row), epoch, seq, prevEpoch: row.epoch, body,
    places: [] }
  const next = record.$case === 'cronDeleted'
    ? null
    : placed(afterAll(row, [record, ...note], seq), { epoch, seq, byteLength })
  await log.append([logged], next === null ? [] : [{ table: 'cron', row: next }])
  return next
}

/** The row as the rows of the log after it say; null if the cron was deleted. */
export async function caughtUp(log: CronLog, stored: CronRow): Promise<CronRow | null> {
  const branch = branchOf(stored)
  const tail = await log.tail(branch)
  if (tail === undefined) return null
  if (tail.seq === stored.seq) return stored
  let row = stored
  for (const { body, seq, epoch } of await log.read(branch, { from: stored.seq + 1,
    through: tail.seq })) {
    const records = decodeRow(body)
    if (records.some(({ $case }) => $case === 'cronDeleted')) return null
    row = placed(afterAll(row, records, seq), { epoch, seq, byteLength: body.byteLength })
  }
  return row
}

function afterAll(row: CronRow, records: readonly RecordOf[], seq: number): CronRow {
  let after = row
  for (const record of records) {
    if (record.$case !== 'commandApplied') after = afterRecord(after, record)
    else {
      after = { ...after, applied: withApplied(after.applied, record.value.commandId, seq) }
    }
  }
  return after
}

function placed(row: CronRow,
  { epoch, seq, byteLength }: { readonly epoch: number; readonly seq: number;
    readonly byteLength: number }): CronRow {
  return { ...row, epoch, seq, storedBytes: row.storedBytes + byteLength }
}
