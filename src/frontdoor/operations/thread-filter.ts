/** The filter and the page of a search of threads, as requests have them. */

import type { CountThreads, SearchThreads, ThreadConditions } from '../../api/index.ts'
import { wordsOf } from '../../search/index.ts'
import type { ThreadFilter, ThreadPlace, ThreadQuery } from '../../search/index.ts'
import type { ValuesFilter } from '../../thread/index.ts'
import { cursorParts, cursorText } from '../schema/cursor.ts'
import { invalid, requireSimple } from '../schema/validation.ts'

/** The filter of a request. Throws `invalid` for one that means nothing or takes too long. */
export function filterOf(tenant: string, request: CountThreads): ThreadFilter & ValuesFilter {
  const { metadata, values, status, q, updated_after, updated_before } = request
  requireSimple('metadata', metadata)
  requireSimple('values', values)
  return {
    tenant,
    ...metadata != null && { metadata },
    ...values != null && { values },
    ...status != null && { status },
    ...q != null && { words: wordsIn(q) },
    ...updated_after != null && { updatedAfterMs: timeIn('updated_after', updated_after) },
    ...updated_before != null && { updatedBeforeMs: timeIn('updated_before', updated_before) },
  }
}

/** As `filterOf`, for a request that changes all threads that match. One condition is needed. */
export function filterOfMany(tenant: string, conditions: ThreadConditions): ThreadFilter {
  const { tenant: _, metadata, ...filter } = filterOf(tenant, conditions)
  const { length } = [...Object.keys(filter), ...Object.keys(metadata ?? {})]
  if (length === 0) throw invalid([{ field: 'filter', message: 'needs a condition' }])
  return { tenant, ...filter, ...metadata && { metadata } }
}

/** Milliseconds since 1970 of a time in a request. Throws `invalid` for anything else. */
export function timeIn(field: string, text: string): number {
  const ms = isTime.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) throw invalid([{ field, message: 'must be an ISO 8601 time' }])
  return ms
}

const isTime = /^\d{4}-\d{2}/

function wordsIn(q: string): readonly string[] {
  const words = wordsOf(q)
  if (words.length === 0) throw invalid([{ field: 'q', message: 'has no word' }])
  return words
}

type Sorting = Pick<ThreadQuery, 'sortBy' | 'sortOrder'>

/** Sorting of a search, and the place where its page begins. */
export function pageOf(
  { sort_by, sort_order, cursor, offset, values }: SearchThreads,
): Sorting & Pick<ThreadQuery, 'after'> {
  const sorting = { sortBy: sort_by ?? 'created_at', sortOrder: sort_order ?? 'desc' } as const
  if (cursor == null) return sorting
  if (offset || values != null) {
    throw invalid([{ field: 'cursor', message: 'does not go with offset or values' }])
  }
  return { ...sorting, after: placeIn(cursor, sorting) }
}

/** The text of a place, which only a search that is sorted alike takes. */
export function cursorOf({ sortBy, sortOrder }: Sorting, { value, id }: ThreadPlace): string {
  return cursorText([sortBy, sortOrder, value, id])
}

function placeIn(cursor: string, { sortBy, sortOrder }: Sorting): ThreadPlace {
  const [by, order, value, id] = cursorParts(cursor)
  const isNumber = sortBy !== 'thread_id' && sortBy !== 'status'
  const isPlace = by === sortBy && order === sortOrder && typeof id === 'string'
    && (isNumber ? Number.isSafeInteger(value) : typeof value === 'string')
  if (isPlace) return { value: value as string | number, id }
  throw invalid([{ field: 'cursor', message: 'is not one of a search that is sorted like this' }])
}
