/** Rows as the tables take them. Searchable fields are columns, and the body has everything. */

import { AssistantRow, CronRow, ItemRow, RunRow,
  ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import type { RowUpdate } from '../../../checkpoint/index.ts'
import { dueAtMs, useOfThread } from '../../../limits/index.ts'
import { aheadUntilMs, expiryAtMs, itemId } from '../../../search/index.ts'
import type { Expiry } from '../search/expiring-threads.ts'
import type { ThreadUse } from '../tables/tenant-uses.ts'
import type { EntryUpdate, SearchedTable } from './write.ts'

/** Encodes a row. Its metadata is kept apart, as it is searched and seldom changes. */
export function entryOf(update: RowUpdate): EntryUpdate {
  switch (update.table) {
    case 'thread': {
      const { row } = update
      return threadEntry(row, bytesOf(ThreadRow, { ...row, metadataJson: '' }))
    }
    case 'assistant': {
      const { row } = update
      return assistantEntry(row, bytesOf(AssistantRow, { ...row, metadataJson: '' }))
    }
    case 'cron': {
      const { row } = update
      return cronEntry(row, bytesOf(CronRow, { ...row, metadataJson: '' }))
    }
    case 'run': {
      const { tenant, threadId, runId, createdAtMs, status } = update.row
      const body = update.body ?? bytesOf(RunRow, update.row)
      return { table: 'run', entry: { tenant, threadId, runId, createdAtMs, status, body } }
    }
    case 'item':
      return itemEntry(update.row, bytesOf(ItemRow, update.row))
    case 'item_removed':
    case 'billing':
    case 'run_removed':
      return update
  }
}

/** For a row that is encoded already. Its metadata is also in the body, which does no harm. */
export function entryOfBody(table: SearchedTable, body: Uint8Array): EntryUpdate {
  switch (table) {
    case 'thread':
      return threadEntry(ThreadRow.decode(body), body)
    case 'assistant':
      return assistantEntry(AssistantRow.decode(body), body)
    case 'cron':
      return cronEntry(CronRow.decode(body), body)
    case 'item':
      return itemEntry(ItemRow.decode(body), body)
  }
}

function itemEntry({ tenant, namespace, key }: ItemRow, body: Uint8Array): EntryUpdate {
  return { table: 'item', entry: { tenant, itemId: itemId(namespace, key), body } }
}

function threadEntry(row: ThreadRow, body: Uint8Array): EntryUpdate {
  const { threadId, status, hidden, stateUpdatedAtMs, owedWebhooks, opening } = row
  const owes = owedWebhooks.length > 0
  return { table: 'thread',
    entry: { ...columnsOf(row), threadId, status, hidden, owes, stateUpdatedAtMs, body,
      ...row.timeToLive && { expiry: expiryOf(row) }, counted: countedOf(row),
      ...opening !== undefined && { opens: true } } }
}

/** Time at which a thread with a time to live is due; undefined for never. */
export function expiryOf(row: ThreadRow): Expiry | undefined {
  const atMs = expiryAtMs(row, row.unfinished.length > 0)
  return atMs === 0 ? undefined : { atMs, hides: row.timeToLive!.strategy === 'delete' }
}

/** Use of a thread, and the time at which it must be woken. */
export function countedOf(row: ThreadRow): ThreadUse {
  return { use: useOfThread(row), dueAtMs: dueAtMs(row.unfinished) }
}

function assistantEntry(row: AssistantRow, body: Uint8Array): EntryUpdate {
  const { assistantId, graphId, name, storedBytes: bytes } = row
  return { table: 'assistant',
    entry: { ...columnsOf(row), assistantId, graphId, name, body, bytes } }
}

function cronEntry(row: CronRow, body: Uint8Array): EntryUpdate {
  const { cronId, assistantId, threadId, enabled, nextMs, wakeMs, endTimeMs } = row
  return { table: 'cron',
    entry: { ...columnsOf(row), cronId, assistantId, threadId, enabled, nextMs, wakeMs, endTimeMs,
      aheadUntilMs: aheadUntilMs(row), body, bytes: row.storedBytes } }
}

function columnsOf(row: ThreadRow | AssistantRow | CronRow) {
  const { tenant, branch, epoch, seq, createdAtMs, updatedAtMs, metadataJson } = row
  return { tenant, branchId: branch?.id ?? '', epoch, seq, createdAtMs, updatedAtMs, metadataJson }
}
