/** The head of the list of traces: names of columns, the order, and a box that chooses all. */

import css from './trace-list.module.css'

/** Pixels of the head, which covers what is scrolled below it. */
export const headHeight = 33

/** Head of the list. */
export function TraceListHead({ isOldest, isAll, toggleAll, toggleOrder }: {
  readonly isOldest: boolean
  readonly isAll: boolean
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
        <span role="columnheader" className={css['chips']}>Tags</span>
        <span role="columnheader" className={css['tokens']}>Tokens</span>
        <span role="columnheader" className={css['latency']}>Duration</span>
        <span role="columnheader" aria-sort={isOldest ? 'ascending' : 'descending'}>
          <button type="button" onClick={toggleOrder}
            title={isOldest ? 'Show the newest first' : 'Show the oldest first'}
          >
            Started {isOldest ? '↑' : '↓'}
          </button>
        </span>
      </div>
    </div>
  )
}
