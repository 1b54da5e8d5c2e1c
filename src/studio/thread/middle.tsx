/** Middle of a thread: one of its views, and the strip of the chosen step. */

import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'

import { serverInfo } from '../api/server.ts'
import { later } from '../parts/later.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { usePhone } from '../parts/room/phone.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { threadViews } from '../addresses/thread.ts'
import { ChatPanel } from '../chat/chat-panel.tsx'
import { paneId } from './screen/pane-id.ts'
import css from './screen/columns.module.css'
import type { Screen } from './screen/use-screen.ts'

const StateView = later(async () => (await import('./state-view.tsx')).StateView, <Reading />)
const EventsView = later(async () => (await import('./events-view.tsx')).EventsView, <Reading />)
const RunsView = later(async () => (await import('./runs-view.tsx')).RunsView, <Reading />)
const loadChosen = () => import('./chosen-place.tsx')
const Chosen = lazy(async () => ({ default: (await loadChosen()).Chosen }))
const Comparison = lazy(async () => ({ default: (await loadChosen()).Comparison }))
const InputPanel = lazy(async () => ({
  default: (await import('../chat/input-panel.tsx')).InputPanel,
}))

const TraceView = later(async () => (await import('./trace-view.tsx')).TraceView, <Reading />)

const others = { state: StateView, events: EventsView, runs: RunsView, trace: TraceView }
const labels = { chat: 'Chat', state: 'State', events: 'Events', runs: 'Runs',
  trace: 'Trace' } as const

/** Middle column of a thread: chat, state, events, runs or the trace of one. */
export function Middle({ id, screen }: { readonly id: string; readonly screen: Screen }) {
  const { search, go, choice: { isChat } } = screen
  const [error, setError] = useState<unknown>()
  const isPhone = usePhone()
  const { data: info } = useQuery(serverInfo)
  const views = threadViews.filter((each) =>
    each === 'chat' ? isChat !== false : each !== 'trace' || info?.features?.traces !== false
  )
  const first = views[0]!
  const view = views.find((each) => each === search.view) ?? first
  return (
    <section className={`${css['column']} ${css['middle']}`} aria-label="Thread"
      id={paneId('middle', screen)}
    >
      {/* The headings of the other columns are not there: those of messages need one above. */}
      {isPhone && <h2 className="unseen">Content</h2>}
      <div className={css['head']}>
        <Tabs name="view" label="View" chosen={view}
          tabs={views.map((each) => ({ id: each, label: labels[each] }))}
          near={(each) => each !== 'chat' && others[each].fetch().catch(() => {})}
          choose={(each) => go({ view: each === first ? undefined : each })} />
        {search.vs !== undefined && (
          <Suspense>
            <Comparison screen={screen} />
          </Suspense>
        )}
      </div>
      {search.at !== undefined && search.vs === undefined && (
        <Suspense>
          <Chosen id={id} at={search.at} screen={screen} failed={setError} />
        </Suspense>
      )}
      {error !== undefined && <ErrorNotice error={error} />}
      <div className={css['panel']} id="view-panel" role="tabpanel"
        aria-labelledby={`view-${view}`}
      >
        {view === 'chat' && isChat === true && <ChatPanel id={id} screen={screen} />}
        {view === 'chat' && isChat === undefined && <Reading />}
        {view !== 'chat' && <OtherView id={id} view={view} screen={screen} />}
        <Suspense>
          {isChat === false && view === 'state' && search.vs === undefined &&
            <InputPanel id={id} screen={screen} />}
        </Suspense>
      </div>
    </section>
  )
}

function OtherView({ id, view, screen }: {
  readonly id: string
  readonly view: 'state' | 'events' | 'runs' | 'trace'
  readonly screen: Screen
}) {
  const { search, go, following, choice, headId, answers, isBusy, shown, usage } = screen
  if (view === 'events') return <EventsView log={following.log} threadId={id} />
  if (view === 'runs') {
    const version = `${answers.thread.data?.updated_at} ${isBusy}`
    return <RunsView threadId={id} version={version} />
  }
  if (view === 'trace') {
    const runs = usage?.runs ?? []
    const runId = search.run ?? shown?.metadata?.run_id ?? runs[0]?.run_id
    return <TraceView runId={runId} runs={runs} choose={(run) => go({ run }, true)} />
  }
  return (
    <StateView threadId={id} at={search.at} vs={search.vs} version={headId ?? ''}
      assistantId={choice.assistant?.assistant_id} edited={(at) => {
      void answers.history.refetch()
      void answers.head.refetch()
      go({ at: search.at === undefined ? undefined : at, vs: undefined }, true)
    }} />
  )
}

function Reading() {
  return (
    <div className={css['pad']} role="status" aria-label="It is read">
      {[70, 40, 85, 60].map((width) => <Skeleton key={width} width={`${width}%`} />)}
    </div>
  )
}
