/** The dialog of columns, with the keys that the rows of the list have. */

import { useQueryClient } from '@tanstack/react-query'
import type { InfiniteData } from '@tanstack/react-query'

import type { SpanPage, TraceQuestion, TraceRow } from '../../api/platform/traces.ts'
import { ColumnsDialog } from './columns-dialog.tsx'
import type { ColumnsInUse } from './use-columns.ts'

/** Keys of a kind that are offered. */
const offeredMax = 50

/** Dialog of the columns of a list. */
export function TraceColumns({ question, inUse, close }: {
  readonly question: TraceQuestion
  readonly inUse: ColumnsInUse
  readonly close: () => void
}) {
  const queries = useQueryClient()
  const data = queries.getQueryData<InfiniteData<SpanPage<TraceRow>>>(['traces', question])
  const rows = data?.pages.flatMap(({ items }) => items) ?? []
  const keys = (of: (row: TraceRow) => object | null | undefined) =>
    [...new Set(rows.flatMap((row) => Object.keys(of(row) ?? {})))].toSorted().slice(0, offeredMax)
  return (
    <ColumnsDialog inUse={inUse} close={close}
      known={{ metadata: keys((row) => row.metadata),
        feedback: keys((row) => row.feedback_stats) }} />
  )
}
