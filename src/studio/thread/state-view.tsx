/** The state of a step as a tree, edited, or compared with another step. */

import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'

import { useRefusal } from '../api/refusal.ts'
import { stateAt } from '../api/states.ts'
import type { ThreadState } from '../api/states.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './state/state.module.css'
import { TreeSearch, useTreeSearch } from './state/tree-search.tsx'

/** State to show, the one to compare it with, and the callback of an edit. */
export interface StateViewProps {
  readonly threadId: string
  /** The checkpoint that is shown; the newest one without it. */
  readonly at: string | undefined
  /** The checkpoint to compare with. */
  readonly vs: string | undefined
  /** Changes when the thread has a new step: the newest state is asked for again. */
  readonly version: string
  /** The graph whose nodes an edit may be written as. */
  readonly assistantId: string | undefined
  /** An edit made this step. */
  readonly edited: (checkpointId: string) => void
}

const StateEditor = lazy(async () => ({
  default: (await import('./state/state-editor.tsx')).StateEditor,
}))
const JsonComparison = lazy(async () => ({
  default: (await import('../json/json-comparison.tsx')).JsonComparison,
}))

const columns = ['values', 'metadata.step', 'checkpoint_id']

/** The state of a step with its values. That of a named step never changes. */
const stateQuery = (threadId: string, at: string | undefined, version: string) =>
  queryOptions({
    queryKey: ['threads', threadId, 'state', at ?? 'newest', at === undefined ? version : ''],
    queryFn: ({ signal }) => stateAt(threadId, at, columns, signal),
    staleTime: at === undefined ? 2_000 : Infinity,
    // A state may be of megabytes.
    gcTime: 60_000,
  })

/** State of a step as a tree, with a search, a comparison and an editor. */
export function StateView(props: StateViewProps) {
  const { threadId, at, vs, version } = props
  const [editing, setEditing] = useState<ThreadState>()
  const shown = useQuery({ ...stateQuery(threadId, at, version),
    placeholderData: (old, query) =>
      query?.queryKey[3] === (at ?? 'newest') ? keepPreviousData(old) : undefined })
  const other = useQuery({ ...stateQuery(threadId, vs, ''), enabled: vs !== undefined })
  const failed = shown.error ?? (vs === undefined ? null : other.error)
  if (failed !== null) {
    const retry = () =>
      void Promise.all([shown.refetch(), ...vs === undefined ? [] : [
        other.refetch(),
      ]])
    return (
      <div className={css['aside']}>
        <ErrorNotice error={failed} retry={retry} />
      </div>
    )
  }
  if (shown.data === undefined || (vs !== undefined && other.data === undefined)) {
    return <StateSkeleton />
  }
  if (vs !== undefined) {
    return (
      <Suspense fallback={<StateSkeleton />}>
        <JsonComparison key={`${vs} ${at ?? ''}`} before={other.data!.values ?? {}}
          after={shown.data.values ?? {}} rootName="values" same="Both steps hold the same." />
      </Suspense>
    )
  }
  if (editing !== undefined) {
    return (
      <Suspense fallback={<StateSkeleton />}>
        <StateEditor threadId={threadId} state={editing} assistantId={props.assistantId}
          hasMovedOn={at === undefined && shown.data.checkpoint_id !== editing.checkpoint_id}
          close={() => setEditing(undefined)} edited={(id) => {
          setEditing(undefined)
          props.edited(id)
        }} />
      </Suspense>
    )
  }
  return <StateTree state={shown.data} edit={() => setEditing(shown.data)} />
}

function StateTree({ state, edit }: { readonly state: ThreadState; readonly edit: () => void }) {
  const refusal = useRefusal()
  const values = state.values ?? {}
  const search = useTreeSearch(values)
  const channels = Object.keys(values).length
  const isMade = typeof state.checkpoint_id === 'string'
  return (
    <section className={css['state']} aria-label="State">
      <header className={css['bar']}>
        <span className={`${css['meta']} ${css['channels']}`}>{counted(channels, 'channel')}</span>
        {channels > 0 && <TreeSearch search={search} />}
        <Button small icon={<Icon name="edit" size={14} />} disabled={!isMade ||
          refusal !== undefined} title={refusal ?? (isMade ? undefined : noState)} onClick={edit}
        >
          Edit state
        </Button>
      </header>
      {channels === 0
        ? (
          <Empty title="No state yet">
            <p>{noState}</p>
          </Empty>
        )
        : (
          <JsonTree value={values} name="values" open={2} fill mark={search.words}
            shown={search.shown} />
        )}
    </section>
  )
}

const noState = 'The first run of this thread, or an edit by its graph, makes one.'

function StateSkeleton() {
  return (
    <div className={css['loading']} aria-busy="true">
      <span className="unseen">The state is being read.</span>
      {[38, 62, 54, 70, 46, 58].map((width) => <Skeleton key={width} width={`${width}%`} />)}
    </div>
  )
}
