/** The rows of the list of threads in each of its states: on their way, none, failed, there. */

import { useNavigate } from '@tanstack/react-router'
import { useCallback, useRef, useState } from 'react'
import type { RefObject } from 'react'

import type { ThreadFilter } from '../api/threads.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { hasRow, toggled } from '../rows/choice.ts'
import type { Choice } from '../rows/choice.ts'
import { RowGrid } from '../rows/row-grid.tsx'
import { useRowKeys } from '../rows/row-keys.ts'
import type { ThreadListSearch } from '../addresses/threads.ts'
import { withMetadata } from './thread-filter.ts'
import type { Scalar } from './thread-filter.ts'
import css from './thread-list.module.css'
import { SkeletonRow, ThreadRow } from './thread-row.tsx'
import type { RowSort, useThreadRows } from './use-thread-rows.ts'

const rowHeight = 52
const skeletonRows = 14

/** The list and what it needs. */
export interface ThreadRowsProps {
  readonly rows: ReturnType<typeof useThreadRows>
  readonly search: ThreadListSearch
  readonly sort: RowSort
  readonly filter: ThreadFilter
  readonly change: (part: Partial<ThreadListSearch>) => void
  readonly box: RefObject<HTMLDivElement | null>
  /** Threads that are chosen; undefined while rows cannot be chosen. */
  readonly choice: Choice | undefined
  readonly choose: (choice: Choice) => void
  readonly newThread: (() => Promise<void>) | undefined
}

/** Rows of the list of threads, or a hint in place of them. */
export function ThreadRows(props: ThreadRowsProps) {
  const { rows: { first, total, failed }, filter } = props
  if (first.data === undefined) {
    if (first.error === null) return <SkeletonRows />
    return (
      <div className={css['notice']}>
        <ErrorNotice error={first.error} retry={() => void first.refetch()} />
      </div>
    )
  }
  if (total === 0) return <NoRows {...props} isFiltered={Object.keys(filter).length > 0} />
  return (
    <>
      {failed && (
        <div className={css['notice']}>
          <ErrorNotice error={failed.error} retry={() => void failed.refetch()} />
        </div>
      )}
      <Rows {...props} />
    </>
  )
}

function Rows({ rows, search, sort, change, box, choice, choose }: ThreadRowsProps) {
  const navigate = useNavigate()
  const place = JSON.stringify(search)
  const [active, setActive] = useActive(place)
  const open = (index: number) => {
    const id = rows.rowAt(index)?.thread_id
    if (id !== undefined) void navigate({ to: '/threads/$id', params: { id }, search: {} })
  }
  // Rows that were drawn before something was chosen must not forget it.
  const chosen = useRef(choice)
  chosen.current = choice
  const toggle = useCallback((id: string) => choose(toggled(chosen.current, id)), [choose])
  const toggleAt = (index: number) => {
    const id = rows.rowAt(index)?.thread_id
    if (id !== undefined) toggle(id)
  }
  const isChosen = (index: number) => {
    const id = rows.rowAt(index)?.thread_id
    return choice === 'all' || id !== undefined && hasRow(choice, id)
  }
  const narrow = useCallback((key: string, value: Scalar) =>
    change(key === 'graph_id'
      ? { graph: String(value) }
      : { q: withMetadata(search.q ?? '', key, value) }), [change, search.q])
  useRowKeys({ title: 'Threads', noun: 'thread', count: rows.total, active, activate: setActive,
    box }, {
    x: { words: 'Choose the thread, or not', act: () => toggleAt(active) },
  })
  return (
    <RowGrid label="Threads" name="thread" total={rows.total} rowHeight={rowHeight} active={active}
      activate={setActive} open={open} seen={rows.see} place={place} box={box} isChosen={isChosen}
      toggle={choice === undefined ? undefined : toggleAt}
      row={(index) => (
        <ThreadRow index={index} thread={rows.rowAt(index)} time={sort.sort_by} narrow={narrow}
          choice={choice === undefined ? undefined : { chosen: isChosen(index), toggle }} />
      )} />
  )
}

/** Index of the active row of each list, while the page lives. */
const activeRows = new Map<string, number>()

function useActive(place: string) {
  const [, redraw] = useState(0)
  const set = (index: number) => {
    activeRows.set(place, index)
    redraw((before) => before + 1)
  }
  return [activeRows.get(place) ?? 0, set] as const
}

function SkeletonRows() {
  return (
    <div aria-busy="true" aria-label="Threads" role="grid">
      <div role="rowgroup">
        {Array.from({ length: skeletonRows },
          (_, index) => (
            <div key={index} role="row" className={css['skeleton']}>
              <SkeletonRow index={index} />
            </div>
          ))}
      </div>
    </div>
  )
}

function NoRows({ isFiltered, change, newThread }: ThreadRowsProps & {
  readonly isFiltered: boolean
}) {
  if (isFiltered) {
    return (
      <Empty title="No thread matches">
        <p>
          Metadata are compared exactly: <code>n:5</code> is the number, <code>n:"5"</code>{' '}
          the text. Words are looked for in titles and first messages.
        </p>
        <Button onClick={() =>
          change({ q: undefined, status: undefined, graph: undefined, since: undefined })}
        >
          Show all threads
        </Button>
      </Empty>
    )
  }
  return (
    <Empty title="No threads yet">
      <p>A thread keeps a conversation, and every step that led to it.</p>
      {newThread && <Button onClick={() => void newThread()}>New thread</Button>}
    </Empty>
  )
}
