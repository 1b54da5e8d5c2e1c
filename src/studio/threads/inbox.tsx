/** Inbox: the threads that wait for a person, the one that waits longest first. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'

import { titleOf } from '../api/thread-names.ts'
import type { Thread } from '../api/threads.ts'
import { counted } from '../parts/amounts.ts'
import { Divider } from '../parts/room/divider.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { RowGrid } from '../rows/row-grid.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { StatusGlyph, statusOf } from '../parts/status.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { useKeys } from '../parts/keys.ts'
import { paneStyle } from '../parts/room/panes.ts'
import { InboxPane } from './inbox-pane.tsx'
import css from './inbox.module.css'
import { SkeletonRow } from './thread-row.tsx'
import { questionWords } from './thread-words.ts'
import { useWaitingRows } from './use-waiting-rows.ts'

const rowHeight = 52

/** Page of the threads that wait for a person, the longest wait first. */
export function Inbox() {
  const rows = useWaitingRows()
  const { first, total } = rows
  return (
    <>
      <PageHead title="Inbox" aside={first.data && (
        <span aria-live="polite">
          {total === 0
            ? 'Nothing waits'
            : `${counted(total, 'thread')} ${total === 1 ? 'waits' : 'wait'} for you`}
        </span>
      )} />
      {first.data === undefined
        ? (
          <div className={css['pane']} aria-busy={first.error === null}>
            {first.error === null
              ? <Skeleton width="60%" height={16} />
              : <ErrorNotice error={first.error} retry={() => void first.refetch()} />}
          </div>
        )
        : total === 0
        ? (
          <Empty title="Nothing waits for you">
            <p>A graph that asks a question, or that needs an approval, shows up here.</p>
          </Empty>
        )
        : <Waiting rows={rows} />}
    </>
  )
}

function Waiting({ rows }: { readonly rows: ReturnType<typeof useWaitingRows> }) {
  const { at } = useSearch({ from: '/inbox' })
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const position = useMemo(() => {
    const loaded = rows.loaded.findIndex(({ thread_id: id }) => id === at)
    return loaded >= 0 ? loaded : Math.min(active, rows.total - 1)
  }, [rows.loaded, at, active, rows.total])
  const thread = rows.rowAt(position)
  const show = (index: number) => {
    const bounded = Math.max(0, Math.min(rows.total - 1, index))
    const id = rows.rowAt(bounded)?.thread_id
    setActive(bounded)
    if (id !== undefined) void navigate({ to: '/inbox', search: { at: id }, replace: true })
  }
  useKeys('Inbox', {
    j: { words: 'Next question', act: () => show(position + 1) },
    k: { words: 'Question before', act: () => show(position - 1) },
  })
  const next = (isHere: boolean) => {
    void rows.refresh()
    if (!isHere) return
    const after = rows.rowAt(position + 1) ?? rows.rowAt(position - 1)
    void navigate({ to: '/inbox', search: { at: after?.thread_id }, replace: true })
  }
  return (
    <div className={`${css['inbox']} ${at === undefined ? css['closed'] : css['opened']}`}
      data-panes style={paneStyle('inbox')}
    >
      <div className={css['list']}>
        <Divider pane="inbox" label="Width of the list" edge="right" usual={390} least={240}
          most={700} />
        <RowGrid label="Threads that wait" name="waiting" total={rows.total} rowHeight={rowHeight}
          active={position} activate={show}
          open={() => document.getElementById('question')?.focus()} seen={rows.see} place="inbox"
          box={box} marksActive
          row={(index) => <Row index={index} thread={rows.rowAt(index)} show={show} />} />
      </div>
      <Pane thread={thread} next={next} isOpen={at !== undefined} />
    </div>
  )
}

/** The question has the focus once it changes after an answer, for those who do not see it. */
function Pane({ thread, next, isOpen }: {
  readonly thread: Thread | undefined
  readonly next: (isHere: boolean) => void
  readonly isOpen: boolean
}) {
  const navigate = useNavigate()
  const answered = useRef(false)
  useEffect(() => {
    if (answered.current) document.getElementById('question')?.focus()
    answered.current = false
  }, [thread?.thread_id])
  return (
    <section id="question" tabIndex={-1} aria-label="What it asks" className={css['pane']}>
      {thread === undefined
        ? <Skeleton width="60%" height={16} />
        : (
          // Two questions of one task have one id: what was given to the first is no answer to the
          // second.
          <InboxPane key={`${thread.thread_id} ${thread.updated_at}`} thread={thread}
            answered={(isHere) => {
              answered.current = isHere
              next(isHere)
            }} back={isOpen
            ? () => void navigate({ to: '/inbox', search: {}, replace: true })
            : undefined} />
        )}
    </section>
  )
}

function Row({ index, thread, show }: {
  readonly index: number
  readonly thread: Thread | undefined
  readonly show: (index: number) => void
}) {
  if (thread === undefined) return <SkeletonRow index={index} />
  return (
    <div role="gridcell" className={css['row']} onClick={() => show(index)}>
      <StatusGlyph status={statusOf(thread.status)} />
      <span className={css['words']}>
        <b dir="auto" title={titleOf(thread)}>{titleOf(thread)}</b>
        <span dir="auto">{questionWords(thread.interrupts)}</span>
      </span>
      <TimeText iso={thread.updated_at} />
    </div>
  )
}
