/** Two traces beside each other: their steps on one axis of time, and what the chosen ones hold. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'

import { buttonClass } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNotice, Notice } from '../../parts/notice.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StatusGlyph } from '../../parts/status.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import { spanStatus } from '../../parts/trace-words.ts'
import { RowList } from '../../rows/row-list.tsx'
import { traceQuery } from '../waterfall/trace-query.ts'
import type { SpanTree } from '../waterfall/span-tree.ts'
import { alignedMax, alignedRows } from './aligned-spans.ts'
import type { AlignedRow } from './aligned-spans.ts'
import { AlignedCells } from './aligned-cells.tsx'
import css from './comparison.module.css'
import { SpanComparison } from './span-comparison.tsx'

/** Traces are read whole: no page follows. */
const whole = { isError: false, error: undefined, refetch: () => {}, hasNextPage: false,
  isFetching: false, isFetchNextPageError: false, fetchNextPage: () => {} }

/** Page that compares a trace with another one of its project. */
export function TraceComparison({ projectId, traceId, otherId, tree }: {
  readonly projectId: string
  readonly traceId: string
  readonly otherId: string
  readonly tree: SpanTree
}) {
  const other = useQuery(traceQuery(projectId, otherId))
  const { span } = useSearch({ from: '/traces/$project/$trace' })
  return (
    <>
      <header className={css['head']}>
        <Link to="/traces/$project" params={{ project: projectId }} search={{}}
          className={buttonClass('quiet', false, true)} aria-label="To the project"
          title="To the project"
        >
          <Icon name="back" />
        </Link>
        <h1>Compare</h1>
        <Side letter="A" projectId={projectId} traceId={traceId} tree={tree} />
        <Side letter="B" projectId={projectId} traceId={otherId} tree={other.data} />
        <Link to="/traces/$project/$trace" params={{ project: projectId, trace: otherId }}
          search={{ vs: traceId, span }} replace className={buttonClass('plain', true)}
        >
          Swap
        </Link>
      </header>
      {other.data === undefined
        ? (
          <div className={css['notice']}>
            {other.isError
              ? <ErrorNotice error={other.error} retry={() => void other.refetch()} />
              : <Skeleton width="60%" height={32} />}
          </div>
        )
        : other.data.byId.size === 0
        ? (
          <div className={css['notice']}>
            <Notice>The other trace is not in this project: it may have been deleted.</Notice>
          </div>
        )
        : (
          <Compared projectId={projectId} traceIds={[traceId, otherId]} before={tree}
            after={other.data} />
        )}
    </>
  )
}

function Side({ letter, projectId, traceId, tree }: {
  readonly letter: string
  readonly projectId: string
  readonly traceId: string
  readonly tree: SpanTree | undefined
}) {
  const span = tree?.roots[0]?.span
  return (
    <span className={css['side']}>
      <b data-side={letter}>{letter}</b>
      {span === undefined ? <Skeleton width={120} /> : (
        <>
          <StatusGlyph status={spanStatus(span.status)} size={12} />
          <Link to="/traces/$project/$trace" params={{ project: projectId, trace: traceId }}
            search={{}} dir="auto" title={`${span.name} ${traceId}`}
          >
            {span.name}
          </Link>
          {span.start_time !== null && <TimeText iso={span.start_time} />}
        </>
      )}
    </span>
  )
}

function Compared({ projectId, traceIds, before, after }: {
  readonly projectId: string
  readonly traceIds: readonly [string, string]
  readonly before: SpanTree
  readonly after: SpanTree
}) {
  const { span } = useSearch({ from: '/traces/$project/$trace' })
  const navigate = useNavigate({ from: '/traces/$project/$trace' })
  const rows = useMemo(() => alignedRows(before, after), [before, after])
  const toUs = Math.max(before.whole.to, after.whole.to)
  const has = (row: AlignedRow) => row.before?.span.id === span || row.after?.span.id === span
  const chosen = rows.find(has) ?? rows[0]
  const choose = ({ before: one, after: two }: AlignedRow) =>
    void navigate({ replace: true, search: (old) => ({ ...old, span: (one ?? two)!.span.id }) })
  return (
    <div className={css['body']}>
      <div className={css['steps']}>
        {rows.length === alignedMax && (
          <div className={css['notice']}>
            <Notice>These are the first {alignedMax} steps.</Notice>
          </div>
        )}
        <RowList pages={whole} rows={rows} total={rows.length} label="Steps" noun="step"
          rowHeight={44} place={`compared ${rows[0]?.id}`} open={choose} empty={null} row={(row) =>
          row && (
            <AlignedCells row={row} toUs={toUs} isChosen={row === chosen} choose={choose} />
          )} />
      </div>
      {chosen !== undefined && (
        <SpanComparison key={chosen.id} projectId={projectId} traceIds={traceIds} row={chosen} />
      )}
    </div>
  )
}
