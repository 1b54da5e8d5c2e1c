/** The runs of a filter, read page by page as somebody scrolls; new ones come in above. */

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'

import { pollEvery } from '../api/poll.ts'
import { searchRuns } from '../api/run-search.ts'
import type { RunFilter } from '../api/run-search.ts'
import type { RowRange } from '../rows/row-grid.tsx'
import type { timeSpans } from '../threads/address.ts'
import { spanMs } from '../threads/thread-filter.ts'
import type { RunListSearch } from './address.ts'

/** Rows from the end at which the next page is asked for. */
const ahead = 40
const newMs = 5_000

/** The filter of an address. */
export function runFilterOf({ status, graph, since }: RunListSearch, nowMs: number): RunFilter {
  return {
    ...status !== undefined && { status },
    ...graph !== undefined && { graph_id: graph },
    ...since !== undefined && { created_after: startOf(since, nowMs) },
  }
}

const startOf = (since: typeof timeSpans[number], nowMs: number): string =>
  new Date(nowMs - spanMs[since]).toISOString()

/** The runs that were read so far. `see` says which rows are on the screen. */
export function useRuns(filter: RunFilter) {
  const [range, setRange] = useState<RowRange>({ first: 0, last: 0 })
  const query = useInfiniteQuery({
    queryKey: ['runs', filter],
    queryFn: ({ pageParam, signal }) => searchRuns(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    placeholderData: keepPreviousData,
    // More pages than one would all be read again, and would push what is looked at.
    refetchInterval: (asked) =>
      (asked.state.data?.pages.length ?? 0) > 1 ? false : pollEvery(newMs)(asked),
  })
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows) ?? [], [query.data])
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query
  const isNear = range.last >= rows.length - ahead
  useEffect(() => {
    if (isNear && hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage()
  }, [isNear, hasNextPage, isFetching, isFetchNextPageError, fetchNextPage])
  const see = useCallback((seen: RowRange) => setRange(seen), [])
  return { query, rows, see }
}
