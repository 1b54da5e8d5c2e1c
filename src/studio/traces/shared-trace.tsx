/** A trace that somebody shared, for anybody who has its link. It changes nothing. */

import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'

import { sharedSpans } from '../api/platform/shares.ts'
import { nowMs } from '../env.ts'
import { counted, duration } from '../parts/amounts.ts'
import { Mark } from '../parts/icon.tsx'
import { SharedPending } from '../parts/shared-pending.tsx'
import { StatusChip } from '../parts/status.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { useSettled } from '../rows/settled.ts'
import type { TraceSearch } from '../addresses/traces.ts'
import { SharedSpan } from './span/span-detail.tsx'
import css from './trace-page.module.css'
import { spanStatus } from '../parts/trace-words.ts'
import { treeOf } from './waterfall/span-tree.ts'
import type { SpanTree } from './waterfall/span-tree.ts'
import { Waterfall } from './waterfall/waterfall.tsx'

const panes = [{ id: 'tree', label: 'Spans' }, { id: 'span', label: 'Chosen span' }] as const

/** Page of a shared trace for everybody who has its link. */
export function SharedTrace() {
  const { token } = useParams({ from: '/public/$token' })
  const spans = useQuery({
    queryKey: ['shared', token],
    queryFn: async ({ signal }) => treeOf((await sharedSpans(token, signal)).items, nowMs()),
    structuralSharing: false,
    retry: false,
  })
  const { data: tree } = spans
  if (tree !== undefined && tree.byId.size > 0) return <Shown token={token} tree={tree} />
  return <SharedPending title="Shared trace" query={spans} isGone={tree !== undefined} />
}

function Shown({ token, tree }: { readonly token: string; readonly tree: SpanTree }) {
  const search = useSearch({ from: '/public/$token' })
  const navigate = useNavigate({ from: '/public/$token' })
  const set = (change: TraceSearch) =>
    void navigate({ replace: true, search: (old) => ({ ...old, ...change }) })
  const root = tree.roots[0]!.span
  const known = search.span !== undefined && tree.byId.has(search.span) ? search.span : root.id
  const shown = useSettled(known, 100)
  const pane = search.pane ?? 'tree'
  return (
    <>
      <header className={css['head']}>
        <Mark />
        <h1 dir="auto" title={root.name}>{root.name}</h1>
        <span className={css['details']}>
          <span>{counted(tree.byId.size, 'span')}</span>
          <span>{duration(tree.whole.to / 1_000)}</span>
        </span>
        <StatusChip status={spanStatus(root.status)} />
      </header>
      <div className={css['panes']}>
        <Tabs name="trace" label="Trace" tabs={panes} chosen={pane}
          choose={(id) => set({ pane: id === 'span' ? 'span' : undefined })} />
      </div>
      <div className={css['body']} data-pane={pane} id="trace-panel">
        <Waterfall tree={tree} chosen={known} choose={(span) => set({ span })}
          open={(span) => set({ span, pane: 'span' })} view={search} setView={set} />
        <aside className={css['span']} aria-label="Chosen span">
          <SharedSpan token={token} spanId={shown} />
        </aside>
      </div>
    </>
  )
}
