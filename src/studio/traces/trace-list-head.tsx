/** The head of the list of traces: names of columns, the order, and a box that chooses all. */

import { ColumnEdge } from './columns/column-edge.tsx'
import { columnId, columnWords } from './columns/columns.ts'
import type { Column } from './columns/columns.ts'
import columnCss from './columns/columns.module.css'
import css from './trace-list.module.css'

/** Pixels of the head, which covers what is scrolled below it. */
export const headHeight = 33

/** Head of the list. */
export function TraceListHead({ columns, isOldest, isAll, show, keep, toggleAll, toggleOrder }: {
  readonly columns: readonly Column[]
  readonly isOldest: boolean
  readonly isAll: boolean
  /** Shows a width of a column while it is dragged. */
  readonly show: (id: string, width: number | undefined) => void
  /** Gives a column a width, or its usual one. */
  readonly keep: (id: string, width: number | undefined) => void
  readonly toggleAll: () => void
  readonly toggleOrder: () => void
}) {
  return (
    <div role="rowgroup" className={css['head']}>
      <div role="row" aria-rowindex={1} className={css['columns']}>
        <span role="columnheader" className={css['choice']}>
          <label>
            <input type="checkbox" checked={isAll} onChange={toggleAll}
              aria-label="Choose all that match" />
          </label>
        </span>
        <span role="columnheader">
          <span className="unseen">Status</span>
        </span>
        <span role="columnheader">Input and output</span>
        {columns.map((column) => {
          const isStart = column.kind === 'field' && column.name === 'started'
          return (
            <span key={columnId(column)} role="columnheader" aria-label={columnWords(column)}
              title={columnWords(column)}
              className={`${columnCss['columnHead']} ${columnCss[headClass(column)]}`}
              data-column={column.kind === 'field' ? column.name : 'key'}
              aria-sort={isStart ? isOldest ? 'ascending' : 'descending' : undefined}
            >
              <ColumnEdge column={column} show={show} keep={keep} />
              {isStart
                ? (
                  <button type="button" onClick={toggleOrder}
                    title={isOldest ? 'Show the newest first' : 'Show the oldest first'}
                  >
                    Started {isOldest ? '↑' : '↓'}
                  </button>
                )
                : <span dir="auto">{columnWords(column)}</span>}
            </span>
          )
        })}
      </div>
    </div>
  )
}

/** Class of the cells of a column, which narrow windows leave out. */
function headClass({ kind, name }: Column): string {
  if (kind !== 'field') return kind === 'metadata' ? 'text' : 'number'
  return { type: 'text', thread: 'text', tags: 'chips', feedback: 'chips', tokens: 'tokens',
    latency: 'latency', started: 'time' }[name] ?? 'number'
}
