/** Reads a list page by page, before the end of what was read is seen. */

import { useCallback, useEffect, useState } from 'react'

import type { RowRange } from './row-grid.tsx'

/** State of a query of pages, and its call for the next one. */
export interface RowPages {
  readonly hasNextPage: boolean
  readonly isFetching: boolean
  readonly isFetchNextPageError: boolean
  readonly fetchNextPage: () => unknown
}

/** Rows from the end at which the next page is asked for. */
const ahead = 40

/** True if so much was read that the last row on the screen is near its end. */
export function isNearEnd(last: number, rows: number): boolean {
  return last >= rows - ahead
}

/**
 * Asks for the next page while it is wanted, by the last row on the screen. One that failed is not
 * asked for again by itself. Returns what the list calls with the rows on the screen.
 */
export function useRowsAhead(
  { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage }: RowPages,
  wants: (last: number) => boolean,
): (range: RowRange) => void {
  const [last, setLast] = useState(0)
  const isWanted = wants(last)
  useEffect(() => {
    if (isWanted && hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage()
  }, [isWanted, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage])
  return useCallback((range: RowRange) => setLast(range.last), [])
}
