/** Rows of threads, assistants and items: they belong to a shard and can be searched for. */

import { AssistantRow, ItemRow, ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import type { RowUpdate } from '../../../checkpoint/index.ts'
import { itemId } from '../../../search/index.ts'

/** Tables whose rows belong to a shard. */
export type OwnedTable = 'thread' | 'assistant' | 'item'

/** A row of such a table. */
export type OwnedRow = ThreadRow | AssistantRow | ItemRow

/** An update of such a row. */
export type OwnedUpdate = Extract<RowUpdate, { readonly table: OwnedTable }>

/** The id of the thread, assistant or item. */
export function idOf(row: OwnedRow): string {
  if ('threadId' in row) return row.threadId
  return 'assistantId' in row ? row.assistantId : itemId(row.namespace, row.key)
}

/** A text that is different for every thread, assistant and item. */
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
    case 'item':
      return ItemRow.decode(body)
  }
}
