/** The traces of a project, newest first. More are read as one scrolls. */

import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'

import { newerTraces, tracePage } from '../api/platform/traces.ts'
import type { TraceQuestion, TraceRow } from '../api/platform/traces.ts'
import { Empty } from '../parts/empty.tsx'
import { useKeys } from '../parts/keys.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import type { ProjectSearch } from '../addresses/traces.ts'
import { useWidths } from './columns/use-widths.ts'
import type { ColumnsInUse } from './columns/use-columns.ts'
import { BenchBar } from './bench/bench-bar.tsx'
import { useBench } from './bench/use-bench.ts'
import { useListKeys } from './list-keys.ts'
import css from './trace-list.module.css'
import { headHeight, TraceListHead } from './trace-list-head.tsx'
import { spanSearch, TraceListRow } from './trace-list-row.tsx'

/** Filter of the list, the trace beside it, and the callback that changes the address. */
interface TraceListProps {
  readonly question: TraceQuestion
  readonly peek: string | undefined
  readonly set: (change: Partial<ProjectSearch>) => void
  readonly isFiltered: boolean
  readonly inUse: ColumnsInUse
}

/** List of the traces of a project, the newest first. */
export function TraceList(props: TraceListProps) {
  const { question, isFiltered } = props
  const pages = useInfiniteQuery({
    queryKey: ['traces', question],
    queryFn: ({ pageParam, signal }) => tracePage(question, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    // All pages would be read again: the first one says when there is something new.
    refetchOnWindowFocus: false,
    staleTime: 60_000,
  })
  const rows = useMemo(() => pages.data?.pages.flatMap(({ items }) => items), [pages.data])
  const { hasNextPage, isFetching, fetchNextPage } = pages
  const more = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  if (pages.isError && rows === undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={pages.error} retry={() => void pages.refetch()} />
      </div>
    )
  }
  if (rows?.length === 0 && !hasNextPage) {
    return isFiltered
      ? (
        <Empty title="No trace matches">
          <p>Names, tags and metadata are compared exactly. Words are looked for in all texts.</p>
        </Empty>
      )
      : (
        <Empty title="No traces yet">
          <p>The next run of this project appears here.</p>
        </Empty>
      )
  }
  return (
    <>
      {rows !== undefined && <NewTraces question={question} newest={rows[0]} />}
      <Traces {...props} rows={rows} more={more} hasMore={hasNextPage} />
      {pages.isFetchNextPageError && (
        <div className={css['notice']}>
          <ErrorNotice error={pages.error} retry={() => void fetchNextPage()} />
        </div>
      )}
    </>
  )
}

function Traces({ question, peek, set, inUse, rows, more, hasMore }: TraceListProps & {
  readonly rows: readonly TraceRow[] | undefined
  readonly more: () => void
  readonly hasMore: boolean
}) {
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const bench = useBench(question, rows)
  const { columns, isPlain, style, show, keep } = useWidths(inUse)
  const [active, setActive] = useState(() =>
    Math.max(0, rows?.findIndex(({ id }) => id === peek) ?? 0)
  )
  const count = rows === undefined ? 12 : rows.length + (hasMore ? 3 : 0)
  const list = useVirtualizer({ count, getScrollElement: () => box.current, estimateSize: () => 52,
    overscan: 6, scrollPaddingStart: headHeight })
  const items = list.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (rows !== undefined && last >= rows.length - 30) more()
  }, [last, rows, more])
  const move = (index: number) => {
    setActive(index)
    list.scrollToIndex(index)
    if (peek !== undefined) set({ peek: rows?.[index]?.id })
  }
  const open = (index: number) => {
    const row = rows?.[index]
    if (row === undefined) return
    void navigate({ to: '/traces/$project/$trace', search: spanSearch(row),
      params: { project: question.projectId, trace: row.trace_id } })
  }
  const onListKey = useListKeys({ title: 'Traces', count: rows?.length ?? 0, active, box, move,
    open })
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.key !== ' ' || event.target !== event.currentTarget) return onListKey(event)
    event.preventDefault()
    set({ peek: peek === undefined ? rows?.[active]?.id : undefined })
  }
  useKeys('Choice', {
    x: { words: 'Choose the row, or not', act: () => bench.toggle(active, false) },
  })
  const look = useCallback((index: number, id: string) => {
    setActive(index)
    set({ peek: id })
  }, [set])
  return (
    <>
      <div className={`${css['grid']} ${css[isPlain ? 'usual' : 'chosen']}`} style={style}
        role="grid" aria-label="Traces" tabIndex={0} ref={box}
        aria-rowcount={hasMore ? -1 : count + 1} aria-busy={rows === undefined}
        aria-multiselectable="true" onKeyDown={onKeyDown}
        aria-activedescendant={rows !== undefined && rows.length > 0
          ? `trace-${active}`
          : undefined}
      >
        <TraceListHead columns={columns} show={show} keep={keep} isOldest={question.oldest ?? false}
          isAll={bench.choice === 'all'} toggleAll={bench.toggleAll}
          toggleOrder={() => set({ order: question.oldest ? undefined : 'oldest' })} />
        <div role="rowgroup" className={css['body']} style={{ height: list.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <TraceListRow key={index} index={index} top={start} row={rows?.[index]} bench={bench}
              projectId={question.projectId} columns={inUse.columns} active={active} peek={peek}
              look={look} />
          ))}
        </div>
      </div>
      <BenchBar bench={bench} />
    </>
  )
}

/** Says that there are newer traces. The list moves only when somebody wants to see them. */
function NewTraces({ question, newest }: {
  readonly question: TraceQuestion
  readonly newest: TraceRow | undefined
}) {
  const queries = useQueryClient()
  const afterMs = newest?.start_time ? Date.parse(newest.start_time) + 1 : question.fromMs
  const { data: fresh = 0 } = useQuery({
    queryKey: ['traces', 'newer', question, afterMs],
    queryFn: ({ signal }) => newerTraces(question, afterMs, signal),
    // The newest ones are at the other end of such a list.
    enabled: !question.oldest,
    refetchInterval: 10_000,
    retry: false,
  })
  if (fresh === 0) return null
  return (
    <button type="button" className={css['fresh']}
      onClick={() => void queries.resetQueries({ queryKey: ['traces', question] })}
    >
      {fresh >= 100
        ? '100 or more new traces'
        : fresh === 1
        ? '1 new trace'
        : `${fresh} new traces`}
    </button>
  )
}
