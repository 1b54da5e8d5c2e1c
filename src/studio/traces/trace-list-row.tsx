/** A trace in the list: how it ended, what came in, and what went out. */

import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import type { MouseEvent } from 'react'

import type { TraceSearch } from '../addresses/traces.ts'
import type { TraceRow } from '../api/platform/traces.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import { StatusGlyph, statusWords } from '../parts/status.tsx'
import { spanStatus } from '../parts/trace-words.ts'
import { hasRow } from '../rows/choice.ts'
import type { useBench } from './bench/use-bench.ts'
import { ColumnCell } from './columns/column-cell.tsx'
import { columnId } from './columns/columns.ts'
import type { Column } from './columns/columns.ts'
import css from './trace-list.module.css'

/** A place in the list, and what the list knows of its rows. */
interface TraceListRowProps
  extends Omit<RowProps, 'isActive' | 'isPeeked' | 'isChosen' | 'toggle'> {
  readonly active: number
  readonly peek: string | undefined
  readonly bench: Pick<ReturnType<typeof useBench>, 'choice' | 'toggle'>
}

/** A row; without a trace it is one that is still being read. */
export function TraceListRow({ active, peek, bench, ...rest }: TraceListRowProps) {
  const { index, row } = rest
  return (
    <Row {...rest} isActive={index === active} toggle={bench.toggle}
      isPeeked={peek !== undefined && row?.id === peek}
      isChosen={row !== undefined && hasRow(bench.choice, row.id)} />
  )
}

interface RowProps {
  readonly index: number
  readonly top: number
  readonly row: TraceRow | undefined
  readonly projectId: string
  readonly columns: readonly Column[]
  readonly isActive: boolean
  readonly isPeeked: boolean
  readonly isChosen: boolean
  readonly look: (index: number, id: string) => void
  /** Chooses the row or not; with `isRange` also those between it and the last chosen one. */
  readonly toggle: (index: number, isRange: boolean) => void
}

const Row = memo((props: RowProps) => {
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

function Cells({ index, row, projectId, columns, isChosen, look, toggle }:
  & Pick<RowProps, 'index' | 'projectId' | 'columns' | 'isChosen' | 'look' | 'toggle'>
  & { readonly row: TraceRow }) {
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
      {columns.map((column) => <ColumnCell key={columnId(column)} row={row} column={column} />)}
    </>
  )
}
