/** Rows of threads, assistants, crons and items: they belong to a shard and are searched. */

import { AssistantRow, CronRow, ItemRow, ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import type { RowUpdate } from '../../../checkpoint/index.ts'
import { isOneOf } from '../../../json/index.ts'
import { itemId } from '../../../search/index.ts'

/** All tables whose rows belong to a shard. */
export const ownedTables = ['thread', 'assistant', 'cron', 'item'] as const

/** A table whose rows belong to a shard. */
export type OwnedTable = typeof ownedTables[number]

/** A row of such a table. */
export type OwnedRow = ThreadRow | AssistantRow | CronRow | ItemRow

/** An update of such a row. */
export type OwnedUpdate = Extract<RowUpdate, { readonly table: OwnedTable }>

/** True if rows of the table belong to a shard. */
export function isOwnedTable(table: RowUpdate['table']): table is OwnedTable {
  return isOneOf(ownedTables, table)
}

/** The id of the thread, assistant, cron or item. */
export function idOf(row: OwnedRow): string {
  if ('cronId' in row) return row.cronId
  if ('threadId' in row) return row.threadId
  return 'assistantId' in row ? row.assistantId : itemId(row.namespace, row.key)
}

/** A text that is different for every thread, assistant, cron and item. */
export function ownedKey(table: OwnedTable, tenant: string, id: string): string {
  return `${table}\n${tenant}\n${id}`
}

/** The row as Cassandra stores it. */
export function encoded({ table, row }: OwnedUpdate): Uint8Array {
  switch (table) {
    case 'thread':
      return bytesOf(ThreadRow, row)
    case 'assistant':
      return bytesOf(AssistantRow, row)
    case 'cron':
      return bytesOf(CronRow, row)
    case 'item':
      return bytesOf(ItemRow, row)
  }
}

/** The row in these bytes. */
export function decoded(table: OwnedTable, body: Uint8Array): OwnedRow {
  switch (table) {
    case 'thread':
      return ThreadRow.decode(body)
    case 'assistant':
      return AssistantRow.decode(body)
    case 'cron':
      return CronRow.decode(body)
    case 'item':
      return ItemRow.decode(body)
  }
}
