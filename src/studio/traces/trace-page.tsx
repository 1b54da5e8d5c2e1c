/** A trace: its spans on the axis of time, and all that is known of the chosen one. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useEffect } from 'react'

import { projectQuery } from '../api/platform/projects.ts'
import { placeOfSpan } from '../api/platform/traces.ts'
import { counted, duration } from '../parts/amounts.ts'
import { buttonClass } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { StatusChip } from '../parts/status.tsx'
import { Tabs } from '../parts/tabs.tsx'
import type { TraceSearch } from '../addresses/traces.ts'
import { useSettled } from '../rows/settled.ts'
import { ShareButton } from './share-button.tsx'
import { SpanDetail } from './span/span-detail.tsx'
import { unknownProject } from '../parts/trace-link.tsx'
import css from './trace-page.module.css'
import { traceQuery, wordsInTrace } from './waterfall/trace-query.ts'
import { spanStatus } from '../parts/trace-words.ts'
import type { SpanTree } from './waterfall/span-tree.ts'
import { Waterfall } from './waterfall/waterfall.tsx'

const TraceComparison = lazy(async () => ({
  default: (await import('./comparison/trace-comparison.tsx')).TraceComparison,
}))

const panes = [{ id: 'tree', label: 'Spans' }, { id: 'span', label: 'Chosen span' }] as const

/** The page. An address that does not know its project finds it, and becomes the whole one. */
export function TracePage() {
  const { project, trace } = useParams({ from: '/traces/$project/$trace' })
  return project === unknownProject
    ? <TraceToFind id={trace} />
    : <Trace projectId={project} traceId={trace} />
}

function TraceToFind({ id }: { readonly id: string }) {
  const navigate = useNavigate()
  const place = useQuery({ queryKey: ['spans', 'place', id],
    queryFn: ({ signal }) => placeOfSpan(id, signal), retry: false })
  useEffect(() => {
    if (place.data === undefined) return
    const { session_id: project, trace_id: trace } = place.data
    void navigate({ to: '/traces/$project/$trace', params: { project, trace }, replace: true,
      search: trace === id ? {} : { span: id } })
  }, [place.data, navigate, id])
  return place.isError
    ? (
      <Empty title="There is no such trace">
        <ErrorNotice error={place.error} retry={() => void place.refetch()} />
        <p>A trace appears a second after its run began, and goes when its project forgets it.</p>
        <Link to="/traces" search={{}} className={buttonClass()}>To the projects</Link>
      </Empty>
    )
    : <TraceToCome />
}

function Trace({ projectId, traceId }: { readonly projectId: string; readonly traceId: string }) {
  const { vs } = useSearch({ from: '/traces/$project/$trace' })
  const spans = useQuery(traceQuery(projectId, traceId))
  if (spans.isError && spans.data === undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={spans.error} retry={() => void spans.refetch()} />
      </div>
    )
  }
  if (spans.data === undefined) return <TraceToCome />
  if (spans.data.byId.size === 0) {
    return (
      <Empty title="There is no such trace in this project">
        <p>It may have been deleted, or its time is over.</p>
        <Link to="/traces/$project" params={{ project: projectId }} search={{}}
          className={buttonClass()}
        >
          To the project
        </Link>
      </Empty>
    )
  }
  return vs === undefined
    ? <TraceShown projectId={projectId} traceId={traceId} tree={spans.data} />
    : (
      <Suspense fallback={<TraceToCome />}>
        <TraceComparison projectId={projectId} tree={spans.data} traceId={traceId} otherId={vs} />
      </Suspense>
    )
}

function TraceShown({ projectId, traceId, tree }: {
  readonly projectId: string
  readonly traceId: string
  readonly tree: SpanTree
}) {
  const search = useSearch({ from: '/traces/$project/$trace' })
  const navigate = useNavigate({ from: '/traces/$project/$trace' })
  const set = useCallback(
    (change: TraceSearch) =>
      void navigate({ replace: true, search: (old) => ({ ...old, ...change }) }),
    [navigate],
  )
  const choose = useCallback((span: string) => set({ span }), [set])
  const open = useCallback((span: string) => set({ span, pane: 'span' }), [set])
  const root = tree.roots[0]!.span
  const known = search.span !== undefined && tree.byId.has(search.span) ? search.span : root.id
  const shown = useSettled(known, 100)
  const pane = search.pane ?? 'tree'
  const inTexts = useQuery(wordsInTrace(projectId, traceId, (search.q ?? '').trim()))
  return (
    <>
      <TraceHead projectId={projectId} traceId={traceId} tree={tree} />
      <div className={css['panes']}>
        <Tabs name="trace" label="Trace" tabs={panes} chosen={pane}
          choose={(id) => set({ pane: id === 'span' ? 'span' : undefined })} />
      </div>
      <div className={css['body']} data-pane={pane} id="trace-panel">
        <Waterfall tree={tree} chosen={known} choose={choose} open={open} view={search}
          setView={set} inTexts={inTexts.data} />
        <aside className={css['span']} aria-label="Chosen span">
          <SpanDetail projectId={projectId} spanId={shown} traceId={traceId} />
        </aside>
      </div>
    </>
  )
}

function TraceHead({ projectId, traceId, tree }: {
  readonly projectId: string
  readonly traceId: string
  readonly tree: SpanTree
}) {
  const { data: project } = useQuery(projectQuery(projectId))
  const { span } = tree.roots[0]!
  const details = [counted(tree.byId.size, 'span'),
    ...tree.tokens > 0 ? [counted(tree.tokens, 'token')] : [], duration(tree.whole.to / 1_000)]
  return (
    <header className={css['head']}>
      <Link to="/traces/$project" params={{ project: projectId }} search={{}}
        className={buttonClass('quiet', false, true)} aria-label="To the project"
        title={project?.name ?? 'To the project'}
      >
        <Icon name="back" />
      </Link>
      <h1 dir="auto" title={span.name}>{span.name}</h1>
      <span className={css['id']}>
        <code title={traceId}>{traceId.slice(0, 8)}…{traceId.slice(-6)}</code>
        <CopyButton text={traceId} label="Copy the id of the trace" />
      </span>
      <span className={css['details']}>
        {details.map((each) => <span key={each}>{each}</span>)}
      </span>
      <StatusChip status={spanStatus(span.status)} />
      <ShareButton traceId={traceId} />
    </header>
  )
}

function TraceToCome() {
  return (
    <>
      <header className={css['head']}>
        <h1 aria-label="Trace">
          <Skeleton width={180} height={16} />
        </h1>
      </header>
      <div className={css['toCome']} aria-busy="true">
        {Array.from({ length: 14 },
          (_, at) => <Skeleton key={at} width={`${30 + at * 17 % 50}%`} />)}
      </div>
    </>
  )
}
