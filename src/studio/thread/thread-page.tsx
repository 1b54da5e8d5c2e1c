/** A thread: its time line, what was said, and the graph that it runs through. */

import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'

import { buttonClass } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { paneStyle } from '../parts/room/panes.ts'
import { Tabs } from '../parts/tabs.tsx'
import { GraphColumn } from './graph-column.tsx'
import { Middle } from './middle.tsx'
import { ThreadHead } from './thread-head.tsx'
import css from './screen/columns.module.css'
import { TimelineColumn } from '../timeline/timeline-column.tsx'
import { useScreen } from './screen/use-screen.ts'
import type { Screen } from './screen/use-screen.ts'
import { isMissing } from './screen/use-thread.ts'

/** The page. Another thread is another page. */
export function ThreadPage() {
  const { id } = useParams({ from: '/threads/$id' })
  return <ThreadScreen key={id} id={id} />
}

const panes = [{ id: 'middle', label: 'Thread' }, { id: 'line', label: 'Time line' }, { id: 'graph',
  label: 'Graph' }] as const

function ThreadScreen({ id }: { readonly id: string }) {
  const screen = useScreen(id)
  const { answers: { thread }, following, search, go } = screen
  const isDeleted = following.isGone && thread.data !== undefined
  if (following.isGone || isMissing(thread.error)) {
    return (
      <Missing title={isDeleted ? 'This thread was deleted' : 'There is no such thread'}>
        {isDeleted
          ? 'Somebody deleted it while it was open here.'
          : thread.error?.message ?? 'It may have been deleted, or belong to somebody else.'}
      </Missing>
    )
  }
  if (thread.data === undefined) {
    return thread.error === null
      ? <Loading />
      : (
        <Empty isPage title="This thread cannot be shown">
          <ErrorNotice error={thread.error} retry={() => void thread.refetch()} />
          <Link to="/threads" search={{}} className={buttonClass()}>All threads</Link>
        </Empty>
      )
  }
  return (
    <div className={css['thread']} data-pane={search.pane ?? 'middle'} data-alone={search.alone}
      data-panes style={paneStyle('line', 'graph')}
    >
      <Head screen={screen} />
      <div className={css['panes']}>
        <Tabs name="pane" label="Parts of the thread" tabs={panes} chosen={search.pane ?? 'middle'}
          choose={(pane) => go({ pane: pane === 'middle' ? undefined : pane }, true)} />
      </div>
      <div id="pane-panel" className={css['columns']}>
        <TimelineColumn screen={screen} />
        <Middle id={id} screen={screen} />
        <GraphColumn screen={screen} />
      </div>
    </div>
  )
}

function Head({ screen }: { readonly screen: Screen }) {
  const { answers, title, status, choice, go, refusal, usage } = screen
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>()
  return (
    <>
      <ThreadHead thread={answers.thread.data!} title={title} status={status} usage={usage}
        assistants={choice.all} chosen={choice.assistant?.assistant_id ?? ''} refusal={refusal}
        choose={(assistant) => go({ assistant }, true)} failed={setError} leave={(to) =>
        to === undefined
          ? void navigate({ to: '/threads', search: {} })
          : void navigate({ to: '/threads/$id', params: { id: to }, search: {} })} />
      {error !== undefined && (
        <div className={css['wide']}>
          <ErrorNotice error={error} />
        </div>
      )}
    </>
  )
}

function Missing({ title, children }: {
  readonly title: string
  readonly children: string
}) {
  return (
    <Empty isPage title={title}>
      <p>{children}</p>
      <Link to="/threads" search={{}} className={buttonClass()}>All threads</Link>
    </Empty>
  )
}

function Loading() {
  return (
    <div className={css['pad']} role="status" aria-label="The thread is read">
      <Skeleton width="30%" height={20} />
      <Skeleton width="60%" />
      <Skeleton width="50%" />
    </div>
  )
}
