/**
 * The rows of a list of threads: pages that stay where they are, the rows on the screen kept up to
 * date in place, and how many threads are newer than the list.
 */

import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'

import { pollEvery } from '../api/poll.ts'
import { queries } from '../api/query.ts'
import { countThreads, searchThreads } from '../api/threads.ts'
import type { Thread, ThreadFilter } from '../api/threads.ts'
import type { RowRange } from '../rows/row-grid.tsx'
import { useSettled } from '../rows/settled.ts'
import type { ThreadListSearch } from '../addresses/threads.ts'
import { pageRows, pagesOf, questionOf } from './page-window.ts'

/** Order of the rows, in the terms of a request. */
export interface RowSort {
  readonly sort_by: 'updated_at' | 'created_at'
  readonly sort_order: 'asc' | 'desc'
}

/** The sort of an address. */
export function sortOf(sort: ThreadListSearch['sort']): RowSort {
  return {
    sort_by: sort?.startsWith('created') ? 'created_at' : 'updated_at',
    sort_order: sort?.endsWith('asc') ? 'asc' : 'desc',
  }
}

/** Positions are asked about once they are settled: a drag of the scroll bar asks once. */
const settledMs = 70
const seenMs = 5_000
const seen = { first: 'values.messages[0].content', last: 'values.messages[-1].content' }

async function askPage(filter: ThreadFilter, sort: RowSort,
  { page, total }: { readonly page: number; readonly total: number }, signal: AbortSignal) {
  const { reversed, offset, limit } = questionOf(page, total)
  const order = reversed === (sort.sort_order === 'asc') ? 'desc' : 'asc'
  const answer = await searchThreads({ ...filter, ...sort, sort_order: order, extract: seen, offset,
    limit }, signal)
  return reversed ? { ...answer, rows: answer.rows.toReversed() } : answer
}

/** The rows of a filter. `see` says which are on the screen; `deleted` rows are shown as such. */
export function useThreadRows(filter: ThreadFilter, sort: RowSort) {
  const [scrolled, see] = useState<RowRange>({ first: 0, last: 0 })
  const range = useSettled(scrolled, settledMs)
  const first = useQuery({
    queryKey: ['threads', 'rows', filter, sort, 0],
    queryFn: ({ signal }) => askPage(filter, sort, { page: 0, total: Infinity }, signal),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    refetchInterval: (query) => query.state.data?.total === 0 ? pollEvery(seenMs)(query) : false,
  })
  const total = first.data?.total ?? 0
  const wanted = pagesOf(range.first, Math.min(range.last, total - 1)).filter((page) => page > 0)
  const pages = useQueries({
    queries: wanted.map((page) => ({
      queryKey: ['threads', 'rows', filter, sort, page, total],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        askPage(filter, sort, { page, total }, signal),
      staleTime: 30_000,
      enabled: total > 0 && !first.isPlaceholderData,
    })),
  })
  const stored = (index: number): Thread | undefined => {
    const page = Math.floor(index / pageRows)
    const data = page === 0 ? first.data : pages[wanted.indexOf(page)]?.data
    return data?.rows[index % pageRows]
  }
  const fresh = useFresh(range, stored)
  const newer = useNewer(filter, sort, first.data, fresh)
  const refresh = useCallback(() => queries.invalidateQueries({ queryKey: ['threads'] }), [])
  return {
    first,
    total,
    newer,
    see,
    refresh,
    failed: pages.find(({ error }) => error !== null),
    rowAt: (index: number): Thread | undefined => {
      const row = stored(index)
      const seen = row && fresh.get(row.thread_id)
      return seen !== undefined && seen.updated_at >= row!.updated_at ? seen : row
    },
  }
}

/** The rows on the screen as they are now. Their order stays. */
function useFresh(range: RowRange, stored: (index: number) => Thread | undefined) {
  const ids: string[] = []
  for (let index = range.first; index <= range.last; index++) {
    const id = stored(index)?.thread_id
    if (id !== undefined) ids.push(id)
  }
  const { data } = useQuery({
    queryKey: ['threads', 'fresh', ids],
    queryFn: ({ signal }) => searchThreads({ ids, limit: 1_000, extract: seen }, signal),
    enabled: ids.length > 0,
    initialData: { rows: [], total: 0 },
    staleTime: seenMs,
    gcTime: 0,
    refetchInterval: pollEvery(seenMs),
  })
  return useMemo(() => new Map(data.rows.map((row) => [row.thread_id, row])), [data])
}

/** Number of threads that would stand above the first row now. */
function useNewer(filter: ThreadFilter, sort: RowSort,
  shown: { readonly rows: readonly Thread[]; readonly total: number } | undefined,
  fresh: ReadonlyMap<string, Thread>): number {
  const head = shown?.rows[0]
  const byUpdate = sort.sort_by === 'updated_at'
  const since = byUpdate && head !== undefined ? { updated_after: head.updated_at } : {}
  const { data } = useQuery({
    queryKey: ['threads', 'newer', filter, since],
    queryFn: ({ signal }) => countThreads({ ...filter, ...since }, signal),
    enabled: head !== undefined && sort.sort_order === 'desc',
    initialData: byUpdate ? 0 : shown?.total ?? 0,
    staleTime: seenMs,
    gcTime: 0,
    refetchInterval: pollEvery(seenMs),
  })
  if (head === undefined || sort.sort_order === 'asc') return 0
  if (!byUpdate) return Math.max(0, data - shown!.total)
  const inPlace = [...fresh.values()].filter(({ updated_at: at }) => at > head.updated_at).length
  return Math.max(0, data - inPlace)
}
