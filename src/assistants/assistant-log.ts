/** The part of the log port that an assistant uses, and its entries in the log. */

import { LogRow } from '../../proto/gen/storage/v1/log.ts'
import type { AssistantVersion, Record as LogRecord } from '../../proto/gen/storage/v1/log.ts'
import type { AssistantRow, Branch } from '../../proto/gen/storage/v1/row.ts'
import type { ReadAllowance } from '../limits/index.ts'
import { withApplied } from './applied-command.ts'

/**
 * The log of assistants. Every method promises what the method of that name in `LogPort` promises.
 */
export interface AssistantLog {
  readonly shared: boolean
  newBranchId(): string
  open(branch: Branch, epoch: number): Promise<void>
  append(rows: readonly AssistantLogRow[], updates: readonly AssistantUpdate[]): Promise<void>
  tail(branch: Branch): Promise<{ readonly epoch: number; readonly seq: number } | undefined>
  read(branch: Branch,
    range: { readonly from: number; readonly through: number; readonly reverse?: boolean;
      readonly limit?: number; readonly bytes?: number; readonly bodyBytes?: number }
  ): Promise<readonly { readonly seq: number; readonly body: Uint8Array }[]>
  purge(
    subject: { readonly table: 'assistant'; readonly tenant: string; readonly id: string;
      readonly branch: Branch; readonly epoch: number },
  ): Promise<void>
}

interface AssistantLogRow {
  readonly tenant: string
  readonly branch: Branch
  readonly epoch: number
  readonly seq: number
  readonly prevEpoch: number
  readonly body: Uint8Array
  readonly places: readonly never[]
}

interface AssistantUpdate {
  readonly table: 'assistant'
  readonly row: AssistantRow
}

/** A record of an assistant's log. */
export type AssistantRecord = NonNullable<LogRecord['record']>

/** Content of one row, and the assistant after it; null if it is deleted. */
export interface AssistantEntry {
  readonly record: AssistantRecord
  readonly next: AssistantRow | null
  /** Id of the command that wrote it, if the command may be tried again. */
  readonly commandId?: string | undefined
}

/** Appends an entry after the position of `row`. Returns `next` at the new position. */
export async function appendEntry(log: AssistantLog, epoch: number, row: AssistantRow,
  { record, next, commandId }: AssistantEntry): Promise<AssistantRow | null> {
  const { tenant } = row
  const seq = row.seq + 1
  const records: LogRecord[] = [{ record }]
  if (commandId !== undefined)
    records.push(
      { record: { $case: 'commandApplied', value: { commandId } } },
    )
  const body = LogRow.encode({ records }).finish()
  const position = { tenant, branch: branchOf(row), epoch, seq, prevEpoch: row.epoch }
  const applied = commandId === undefined ? row.applied : withApplied(row.applied, commandId, seq)
  const storedBytes = row.storedBytes + body.byteLength
  const placed = next && { ...next, applied, epoch, seq, storedBytes }
  const updates = placed === null ? [] : [{ table: 'assistant', row: placed } as const]
  await log.append([{ ...position, body, places: [] }], updates)
  return placed
}

/** Rows `from` to `through`, oldest first, with the bytes of each. */
export async function rowsBetween(log: AssistantLog, branch: Branch, from: number,
  through: number
): Promise<
  { readonly records: readonly AssistantRecord[]; readonly seq: number; readonly bytes: number }[]
> {
  const entries = await log.read(branch, { from, through })
  return entries.map(({ body, seq }) => ({ records: recordsIn(body), seq, bytes: body.byteLength }))
}

/** Rows that are read together, and their bytes if there is more than one. */
const [pageRows, bytesTogether] = [10, 1024 * 1024]

/**
 * The versions up to the row's position, newest first, read a page at a time. Each row is read only
 * if the allowance has room for it.
 */
export async function* versionsBackwards(log: AssistantLog, row: AssistantRow,
  allowance?: ReadAllowance): AsyncGenerator<AssistantVersion> {
  for (let through = row.seq; through > 0;) {
    allowance?.keep(0)
    const range = { from: 1, through, reverse: true, limit: pageRows, bytes: bytesTogether }
    const page = allowance === undefined
      ? await log.read(branchOf(row), range)
      : await allowance.beside(() =>
        log.read(branchOf(row), { ...range, bodyBytes: allowance.left })
      )
    for (const { body } of page) {
      for (const record of recordsIn(body)) {
        if (record.$case === 'assistantVersion') yield record.value
      }
    }
    through = (page.at(-1)?.seq ?? 1) - 1
  }
}

/** The row of a version; undefined if there is no such version. */
export async function findVersion(log: AssistantLog, row: AssistantRow,
  version: number): Promise<AssistantVersion | undefined> {
  if (version < 1 || version > row.newestVersion) return undefined
  for await (const each of versionsBackwards(log, row)) if (each.version === version) return each
  return undefined
}

/**
 * The branch of an assistant. Rows of older versions do not name it: it is the assistant's id then.
 */
export function branchOf(row: AssistantRow): Branch {
  return row.branch ?? { id: row.assistantId, ancestors: [] }
}

function recordsIn(body: Uint8Array): AssistantRecord[] {
  return LogRow.decode(body).records.flatMap(({ record }) => (record ? [record] : []))
}
