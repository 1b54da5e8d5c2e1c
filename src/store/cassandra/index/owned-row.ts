/** Rows of threads and assistants: they belong to a shard and can be searched for. */

import { AssistantRow, ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import type { RowUpdate } from '../../../checkpoint/index.ts'

/** Tables whose rows belong to a shard. */
export type OwnedTable = 'thread' | 'assistant'

/** A row of such a table. */
export type OwnedRow = ThreadRow | AssistantRow

/** An update of such a row. */
export type OwnedUpdate = Extract<RowUpdate, { readonly table: OwnedTable }>

/** The id of the thread or assistant. */
export function idOf(row: OwnedRow): string {
  return 'threadId' in row ? row.threadId : row.assistantId
}

/** A text that is different for every thread and assistant. */
export function ownedKey(table: OwnedTable, tenant: string, id: string): string {
  return `${table}\n${tenant}\n${id}`
}

/** The row as Cassandra stores it. */
export function encoded({ table, row }: OwnedUpdate): Uint8Array {
  return table === 'thread' ? bytesOf(ThreadRow, row) : bytesOf(AssistantRow, row)
}

/** The row in these bytes. */
export function decoded(table: OwnedTable, body: Uint8Array): OwnedRow {
  return table === 'thread' ? ThreadRow.decode(body) : AssistantRow.decode(body)
}
