/** The runs of a filter, read page by page as somebody scrolls; new ones come in above. */

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

import { pollEvery } from '../api/poll.ts'
import { searchRuns } from '../api/run-search.ts'
import type { RunFilter } from '../api/run-search.ts'
import type { timeSpans } from '../addresses/threads.ts'
import { spanMs } from '../threads/thread-filter.ts'
import type { RunListSearch } from '../addresses/runs.ts'

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

/** The runs that were read so far; undefined before the first page. */
export function useRuns(filter: RunFilter) {
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
  const rows = useMemo(() => query.data?.pages.flatMap((page) => page.rows), [query.data])
  return { query, rows }
}
