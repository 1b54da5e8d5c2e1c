/** Inputs, outputs and errors of a step in two traces, and what changed between them. */

import { useQuery } from '@tanstack/react-query'

import { spanQuery } from '../../api/platform/traces.ts'
import type { Span } from '../../api/platform/traces.ts'
import { JsonComparison } from '../../json/json-comparison.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import type { SpanNode } from '../waterfall/span-tree.ts'
import type { AlignedRow } from './aligned-spans.ts'
import css from './comparison.module.css'

/** Pane of a step. */
export function SpanComparison({ projectId, traceIds, row: { before, after } }: {
  readonly projectId: string
  readonly traceIds: readonly [string, string]
  readonly row: AlignedRow
}) {
  const one = useSpan(projectId, traceIds[0], before)
  const other = useSpan(projectId, traceIds[1], after)
  const failed = [one, other].find(({ isError }) => isError)
  return (
    <aside className={css['values']} aria-label="Chosen step">
      <h2 dir="auto">{(before ?? after)!.span.name}</h2>
      {failed !== undefined
        ? (
          <div className={css['notice']}>
            <ErrorNotice error={failed.error} retry={() => void failed.refetch()} />
          </div>
        )
        : before && !one.data || after && !other.data
        ? (
          <div className={css['notice']}>
            <Skeleton width="60%" />
          </div>
        )
        : (
          <JsonComparison before={valuesOf(one.data)} after={valuesOf(other.data)} rootName="step"
            same="Both traces have the same inputs and outputs here." />
        )}
    </aside>
  )
}

const useSpan = (projectId: string, traceId: string, node: SpanNode | undefined) =>
  useQuery({ ...spanQuery({ projectId, spanId: node?.span.id ?? '', traceId }),
    enabled: node !== undefined })

/** Parts of a span that are compared; nothing of a step that one trace does not have. */
const valuesOf = (span: Span | null | undefined) =>
  span
    ? { inputs: span.inputs, outputs: span.outputs, ...span.error && { error: span.error } }
    : {}
