/** The place of a thread in the order of a search, from which a next page goes on. */

import type { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { threadColumn } from './row-order.ts'
import type { ThreadFilter, ThreadPlace, ThreadQuery, ThreadSort } from './thread-index.ts'

/** The place of a thread in searches that are sorted so. */
export function placeOfThread(row: ThreadRow, sortBy: ThreadSort): ThreadPlace {
  return { value: row[threadColumn(sortBy)], id: row.threadId }
}

/**
 * True if members of the version before would ignore a part of the query, and so find too much.
 * They are asked by a name that they do not know, and refuse it.
 */
export function isNewerQuery(query: ThreadFilter & Pick<Partial<ThreadQuery>, 'after'>): boolean {
  const { updatedAfterMs, updatedBeforeMs, words, after } = query
  return [updatedAfterMs, updatedBeforeMs, words, after].some((each) => each !== undefined)
}
