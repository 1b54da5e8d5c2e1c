/** The waterfall of a run in its thread: what it did, span by span, and the chosen span. */

import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'

import type { WaterfallView } from '../addresses/traces.ts'
import { placeOfSpan } from '../api/platform/traces.ts'
import type { RunUsage } from '../api/platform/thread-usage.ts'
import { Empty } from '../parts/empty.tsx'
import { Select } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TraceLink } from '../parts/trace-link.tsx'
import { UsageLine } from '../parts/usage/usage-line.tsx'
import { useSettled } from '../rows/settled.ts'
import { SpanDetail } from '../traces/span/span-detail.tsx'
import { traceQuery, wordsInTrace } from '../traces/waterfall/trace-query.ts'
import type { SpanTree } from '../traces/waterfall/span-tree.ts'
import { Waterfall } from '../traces/waterfall/waterfall.tsx'
import css from './trace-view.module.css'

/** Runs of the thread, the one whose trace is shown, and a way to choose another. */
interface TraceViewProps {
  readonly runId: string | undefined
  readonly runs: readonly RunUsage[]
  readonly choose: (runId: string) => void
}

/** The trace of a run, and the choice among the runs of the thread. */
export function TraceView({ runId, runs, choose }: TraceViewProps) {
  const usage = runs.find(({ run_id: id }) => id === runId)
  if (runId === undefined) {
    return (
      <Empty title="No run yet">
        <p>Each run of this thread is a trace.</p>
      </Empty>
    )
  }
  return (
    <section className={css['view']} aria-label="Trace">
      <div className={css['head']}>
        {runs.length > 1 && (
          <Select aria-label="Run" value={runId} onChange={({ target }) => choose(target.value)}>
            {usage === undefined && <option value={runId}>This run</option>}
            {runs.map((run, at) => (
              <option key={run.run_id} value={run.run_id}>{nameOf(run, runs.length - at)}</option>
            ))}
          </Select>
        )}
        {usage !== undefined && <UsageLine usage={usage} />}
        <TraceLink runId={runId} className={css['link'] ?? ''} />
      </div>
      <Trace key={runId} runId={runId} isOver={usage?.ended_at != null} />
    </section>
  )
}

const nameOf = ({ status }: RunUsage, number: number): string =>
  `Run ${number}${status === null || status === 'success' ? '' : ` · ${status}`}`

function Trace({ runId, isOver }: { readonly runId: string; readonly isOver: boolean }) {
  const place = useQuery({ queryKey: ['spans', 'place', runId],
    queryFn: ({ signal }) => placeOfSpan(runId, signal), retry: 3 })
  const projectId = place.data?.session_id
  const spans = useQuery({ ...traceQuery(projectId ?? '', runId, isOver),
    enabled: projectId !== undefined })
  const failed = place.isError ? place : spans.isError ? spans : undefined
  if (failed !== undefined) {
    return <ErrorNotice error={failed.error} retry={() => void failed.refetch()} />
  }
  if (spans.data === undefined || projectId === undefined) {
    return (
      <div className={css['reading']} role="status" aria-label="The trace is read">
        {[60, 85, 40].map((width) => <Skeleton key={width} width={`${width}%`} />)}
      </div>
    )
  }
  return spans.data.roots.length === 0
    ? (
      <Empty title="There is no trace of this run">
        <p>It may have been deleted, or its time is over.</p>
      </Empty>
    )
    : <Shown tree={spans.data} projectId={projectId} runId={runId} />
}

function Shown({ tree, projectId, runId }: {
  readonly tree: SpanTree
  readonly projectId: string
  readonly runId: string
}) {
  const navigate = useNavigate()
  const [wanted, choose] = useState<string>()
  const [view, setView] = useState<WaterfallView>({})
  const inTexts = useQuery(wordsInTrace(projectId, runId, (view.q ?? '').trim()))
  const change = useCallback((part: WaterfallView) => setView((before) => ({ ...before, ...part })),
    [])
  const root = tree.roots[0]!.span.id
  const chosen = wanted !== undefined && tree.byId.has(wanted) ? wanted : root
  const shown = useSettled(chosen, 100)
  const open = useCallback(
    (span: string) =>
      void navigate({ to: '/traces/$project/$trace', params: { project: projectId, trace: runId },
        search: { span, pane: 'span' } }),
    [navigate, projectId, runId],
  )
  return (
    <>
      <Waterfall tree={tree} chosen={chosen} choose={choose} open={open} view={view}
        setView={change} inTexts={inTexts.data} />
      {wanted !== undefined && (
        <aside className={css['span']} aria-label="Chosen span">
          <SpanDetail projectId={projectId} spanId={shown} traceId={runId} />
        </aside>
      )}
    </>
  )
}
