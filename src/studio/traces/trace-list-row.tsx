/** A trace in the list: how it ended, what came in, and what went out. */

import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import type { MouseEvent } from 'react'

import type { TraceSearch } from '../addresses/traces.ts'
import type { TraceRow } from '../api/platform/traces.ts'
import { count } from '../parts/amounts.ts'
import { Chip } from '../parts/chip.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { StatusGlyph, statusWords } from '../parts/status.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './trace-list.module.css'
import { latency, score, spanStatus } from '../parts/trace-words.ts'

/** A row; without a trace it is one that is still being read. */
export const TraceListRow = memo((props: {
  readonly index: number
  readonly top: number
  readonly row: TraceRow | undefined
  readonly projectId: string
  readonly isActive: boolean
  readonly isPeeked: boolean
  readonly isChosen: boolean
  readonly look: (index: number, id: string) => void
  /** Chooses the row or not; with `isRange` also those between it and the last chosen one. */
  readonly toggle: (index: number, isRange: boolean) => void
}) => {
  const { index, top, row, isActive, isPeeked, isChosen } = props
  return (
    <div role="row" id={`trace-${index}`} aria-rowindex={index + 2} aria-selected={isChosen}
      data-active={isActive} className={`${css['row']} ${isPeeked ? css['peeked'] : ''}`}
      style={{ transform: `translateY(${top}px)` }}
    >
      {row === undefined ? <RowToCome index={index} /> : <Cells {...props} row={row} />}
    </div>
  )
})

function RowToCome({ index }: { readonly index: number }) {
  return (
    <>
      <span role="gridcell" />
      <span role="gridcell">
        <Skeleton width={14} height={14} />
      </span>
      <span role="gridcell" className={css['words']}>
        <Skeleton width={160 + index * 53 % 200} />
        <Skeleton width={220 + index * 71 % 240} height={10} />
      </span>
    </>
  )
}

/** Part of the address of a trace that chooses the span of a row; a root needs none. */
export const spanSearch = ({ id, trace_id: trace }: TraceRow): TraceSearch =>
  id === trace ? {} : { span: id }

function Cells({ index, row, projectId, isChosen, look, toggle }: {
  readonly index: number
  readonly row: TraceRow
  readonly projectId: string
  readonly isChosen: boolean
  readonly look: (index: number, id: string) => void
  readonly toggle: (index: number, isRange: boolean) => void
}) {
  const status = spanStatus(row.status)
  const { inputs_preview: asked, outputs_preview: answered, error_preview: error } = row
  const peek = (event: MouseEvent) => {
    // Narrow windows have no room beside the list, and modified clicks are the browser's.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    if (!matchMedia('(min-width: 1100px)').matches) return
    event.preventDefault()
    look(index, row.id)
  }
  return (
    <>
      <span role="gridcell" className={css['choice']}>
        <label>
          <input type="checkbox" tabIndex={-1} checked={isChosen}
            aria-label={`Choose ${asked || row.name}`} onChange={(event) =>
            toggle(index, (event.nativeEvent as globalThis.MouseEvent).shiftKey)} />
        </label>
      </span>
      <span role="gridcell" title={statusWords(status)}>
        <StatusGlyph status={status} />
        <span className="unseen">{statusWords(status)}</span>
      </span>
      <span role="gridcell" className={css['words']}>
        <Link to="/traces/$project/$trace" params={{ project: projectId, trace: row.trace_id }}
          search={spanSearch(row)} tabIndex={-1} dir="auto" onClick={peek}
        >
          {asked || row.name}
        </Link>
        <span className={css['second']}>
          <span className={css['name']} title={row.name} dir="auto">{row.name}</span>
          <span className={error === null ? '' : css['error']} dir="auto">{error ?? answered}</span>
        </span>
      </span>
      <span role="gridcell" className={css['chips']}>
        {Object.entries(row.feedback_stats).slice(0, 1).map(([key, { avg, n }]) => (
          <Chip key={key} tone="accent" title={`${key}, ${n} given`}>{key} {score(avg)}</Chip>
        ))}
        {row.tags.slice(0, 2).map((tag) => <Chip key={tag} title={tag}>{tag}</Chip>)}
        {row.tags.length > 2 && (
          <Chip title={row.tags.slice(2).join(', ')}>+{row.tags.length - 2}</Chip>
        )}
      </span>
      <span role="gridcell" className={css['tokens']} title="Tokens">
        {row.total_tokens ? count(row.total_tokens) : ''}
      </span>
      <span role="gridcell" className={css['latency']} title="How long it took">
        {row.status === 'PENDING' ? '' : latency(row.latency_seconds)}
      </span>
      <span role="gridcell" className={css['time']}>
        {row.start_time !== null && <TimeText iso={row.start_time} />}
      </span>
    </>
  )
}
