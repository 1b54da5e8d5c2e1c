/** A page of rows of threads, and where the next one begins. */

import type { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { placeOfThread } from '../../search/index.ts'
import type { ThreadPlace, ThreadQuery } from '../../search/index.ts'

/** Rows, the number of all that match, and the place of the last row if there are more. */
export interface RowPage {
  readonly rows: ThreadRow[]
  readonly total: number
  readonly next: ThreadPlace | undefined
}

/** Reads a page. Behind a place, one row more is read: the total does not say what is left. */
export async function pageOfRows(
  read: (query: ThreadQuery) => Promise<Omit<RowPage, 'next'>>,
  query: ThreadQuery,
): Promise<RowPage> {
  const { after, limit, offset, sortBy } = query
  const { rows: found, total } = await read(after ? { ...query, limit: limit + 1 } : query)
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const isMore = after ? found.length > limit : offset + rows.length < total
  return { rows, total, next: last && isMore ? placeOfThread(last, sortBy) : undefined }
}
