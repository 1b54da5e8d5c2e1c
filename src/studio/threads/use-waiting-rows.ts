/**
 * The rows of the inbox: threads with an answer that failed, and then the other threads that wait.
 * An answer that failed leaves its interrupt open, and the thread has the status `error`.
 */

import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'

import { failedQuery } from '../api/threads.ts'
import type { Thread } from '../api/threads.ts'
import type { RowRange } from '../rows/row-grid.tsx'
import { useThreadRows } from './use-thread-rows.ts'

const filter = { status: 'interrupted' } as const
const sort = { sort_by: 'updated_at', sort_order: 'asc' } as const
const none: readonly Thread[] = []

/** All threads that wait. The threads of the two lists have one index. */
export function useWaitingRows() {
  const rows = useThreadRows(filter, sort)
  const { data: failed = none } = useQuery(failedQuery)
  const { see: seeRows } = rows
  const see = useCallback(
    ({ first, last }: RowRange) =>
      seeRows({ first: Math.max(0, first - failed.length),
        last: Math.max(0, last - failed.length) }),
    [failed, seeRows],
  )
  return {
    ...rows,
    ...joinRows(failed, rows),
    see,
    /** Threads that have been loaded already, in the order of their rows. */
    loaded: [...failed, ...rows.first.data?.rows ?? []],
  }
}

/** Joins the failed threads and the rows behind them. Pure. */
export function joinRows(failed: readonly Thread[],
  { total, rowAt }: Pick<ReturnType<typeof useThreadRows>, 'total' | 'rowAt'>) {
  return {
    total: failed.length + total,
    rowAt: (index: number): Thread | undefined =>
      index < failed.length ? failed[index] : rowAt(index - failed.length),
  }
}
