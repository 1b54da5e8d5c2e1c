/** The order of found rows, the same as in the SQL of the stores: by a column, then by id. */

import type { AssistantRow, CronRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { AssistantSort } from './assistant-index.ts'
import type { CronSort } from './cron-index.ts'
import { namespaceText } from './item-index.ts'
import type { FoundItem } from './item-index.ts'
import type { ThreadSort } from './thread-index.ts'

/** Column and direction by which rows are sorted. */
export interface Sorting<Sort> {
  readonly sortBy: Sort
  /** Order of both the column and the id. */
  readonly sortOrder: 'asc' | 'desc'
}

/** Compares two rows. The result is below zero if `one` comes first. */
export type RowOrder<Row> = (one: Row, other: Row) => number

type Column<Row> = {
  [Name in keyof Row]: Row[Name] extends string | number ? Name : never
}[keyof Row]

const threadColumns = {
  thread_id: 'threadId',
  status: 'status',
  created_at: 'createdAtMs',
  updated_at: 'updatedAtMs',
  state_updated_at: 'stateUpdatedAtMs',
} as const satisfies Readonly<Record<ThreadSort, Column<ThreadRow>>>

/** The field of a thread that it is sorted by. */
export function threadColumn(sortBy: ThreadSort): typeof threadColumns[ThreadSort] {
  return threadColumns[sortBy]
}

const assistantColumns: Readonly<Record<AssistantSort, Column<AssistantRow>>> = {
  assistant_id: 'assistantId',
  graph_id: 'graphId',
  name: 'name',
  created_at: 'createdAtMs',
  updated_at: 'updatedAtMs',
}

const cronColumns: Readonly<Record<CronSort, Column<CronRow>>> = {
  cron_id: 'cronId',
  assistant_id: 'assistantId',
  thread_id: 'threadId',
  next_run_date: 'nextMs',
  end_time: 'endTimeMs',
  created_at: 'createdAtMs',
  updated_at: 'updatedAtMs',
}

/** Order of crons; equal ones are sorted by id. */
export function cronOrder({ sortBy, sortOrder }: Sorting<CronSort>): RowOrder<CronRow> {
  return orderBy(cronColumns[sortBy], 'cronId', sortOrder)
}

/** Order of threads; equal ones are sorted by id. */
export function threadOrder({ sortBy, sortOrder }: Sorting<ThreadSort>): RowOrder<ThreadRow> {
  return orderBy(threadColumns[sortBy], 'threadId', sortOrder)
}

/** Order of assistants; equal ones are sorted by id. */
export function assistantOrder(
  { sortBy, sortOrder }: Sorting<AssistantSort>,
): RowOrder<AssistantRow> {
  return orderBy(assistantColumns[sortBy], 'assistantId', sortOrder)
}

function orderBy<Row>(column: Column<Row>, id: Column<Row>,
  sortOrder: 'asc' | 'desc'): RowOrder<Row> {
  const sign = sortOrder === 'asc' ? 1 : -1
  return (one, other) => sign * (compare(one[column], other[column]) || compare(one[id], other[id]))
}

/** The order of items: the nearest first if they were compared, then the newest. */
export function itemOrder(one: FoundItem, other: FoundItem): number {
  const nearer = (other.score ?? -Infinity) - (one.score ?? -Infinity)
  if (nearer !== 0 && !Number.isNaN(nearer)) return nearer
  const [a, b] = [one.row, other.row]
  return b.updatedAtMs - a.updatedAtMs
    || compare(namespaceText(a.namespace), namespaceText(b.namespace)) || compare(a.key, b.key)
}

/** Compares texts by their bytes in UTF-8, as a database does. */
function compare(one: unknown, other: unknown): number {
  if (one === other) return 0
  if (typeof one === 'number') return one - Number(other)
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))
}
