/** One row of a list of threads. */

import { Link } from '@tanstack/react-router'
import { memo } from 'react'

import { titleOf } from '../api/thread-names.ts'
import type { Thread } from '../api/threads.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import { StatusGlyph, statusOf, statusWords } from '../parts/status.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import type { Scalar } from './thread-filter.ts'
import css from './thread-row.module.css'
import { graphOf, lastWords, tagsOf } from './thread-words.ts'

/** A row; undefined threads are not read yet. */
export interface ThreadRowProps {
  readonly index: number
  readonly thread: Thread | undefined
  /** Time that is shown: the one that the list is sorted by. */
  readonly time: 'updated_at' | 'created_at'
  /** Filters by a pair of metadata. */
  readonly narrow: (key: string, value: Scalar) => void
  /** Set while rows are chosen. */
  readonly choice?: { readonly chosen: boolean; readonly toggle: (id: string) => void } | undefined
}

/** The row. It is drawn again only if what it shows has changed. */
export const ThreadRow = memo(ThreadCells,
  (one, other) =>
    one.index === other.index && one.thread === other.thread && one.time === other.time &&
    one.narrow === other.narrow && one.choice?.chosen === other.choice?.chosen)

function ThreadCells({ index, thread, time, narrow, choice }: ThreadRowProps) {
  if (thread === undefined) return <SkeletonRow index={index} />
  const title = titleOf(thread)
  const status = statusOf(thread.status)
  const graph = graphOf(thread)
  const words = lastWords(thread)
  return (
    <div className={css['row']}>
      <span role="gridcell" className={css['mark']} title={statusWords(status)}>
        {choice === undefined
          ? <StatusGlyph status={status} />
          : (
            <input type="checkbox" tabIndex={-1} aria-label={`Choose ${title}`}
              checked={choice.chosen} onChange={() => choice.toggle(thread.thread_id)} />
          )}
        <span className="unseen">{statusWords(status)}</span>
      </span>
      <span role="gridcell" className={css['title']}>
        <Link to="/threads/$id" params={{ id: thread.thread_id }} search={{}} tabIndex={-1}
          preload={false} dir="auto" title={title}
        >
          {title}
        </Link>
        <span dir="auto">{words}</span>
      </span>
      <span role="gridcell" className={css['tags']}>
        {graph !== undefined && <Tag name="graph_id" value={graph} narrow={narrow} />}
        {tagsOf(thread).map(([key, value]) => (
          <Tag key={key} name={key} value={value} narrow={narrow} />
        ))}
      </span>
      <span role="gridcell" className={css['time']}>
        <TimeText iso={thread[time]} />
      </span>
    </div>
  )
}

function Tag({ name, value, narrow }: {
  readonly name: string
  readonly value: Scalar
  readonly narrow: ThreadRowProps['narrow']
}) {
  return (
    <button type="button" tabIndex={-1} dir="auto" title={`Only ${name}: ${value}`}
      onClick={() => narrow(name, value)}
    >
      {String(value)}
    </button>
  )
}

/** A row whose page is on its way. */
export function SkeletonRow({ index }: { readonly index: number }) {
  return (
    <div className={css['row']}>
      <span role="gridcell" className={css['mark']}>
        <Skeleton width={12} />
        <span className="unseen">Loading</span>
      </span>
      <span role="gridcell" className={css['title']}>
        <Skeleton width={140 + index * 37 % 120} />
      </span>
    </div>
  )
}
