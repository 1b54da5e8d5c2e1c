/** Items that were found, as rows: namespace, key, the beginning of the value, times. */

import { useMemo } from 'react'

import { Empty } from '../parts/empty.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TimeText, TimeUntil } from '../parts/times/time-text.tsx'
import { RowList } from '../rows/row-list.tsx'
import type { RowListProps } from '../rows/row-list.tsx'
import type { FoundItem, ItemQuestion } from './store-calls.ts'
import css from './store.module.css'

/** Characters of a value in its row. */
const previewMax = 300

/** The list of the items of a question. */
export function ItemRows({ pages, rows, question, open }: {
  readonly pages: RowListProps<FoundItem>['pages']
  readonly rows: readonly FoundItem[] | undefined
  readonly question: ItemQuestion
  readonly open: (item: FoundItem) => void
}) {
  const isAsked = question.text.trim() !== ''
  return (
    <RowList pages={pages} rows={rows} label="Items" noun="item" rowHeight={52}
      row={(item) => <ItemRow item={item} open={open} />}
      place={`store ${JSON.stringify(question)}`} open={open} empty={isAsked
      ? (
        <Empty title="No item matches">
          <p>All words have to be in the namespace, the key or the value.</p>
        </Empty>
      )
      : (
        <Empty title="No items here">
          <p>Items are the long-term memory of graphs: each is an object with a key.</p>
        </Empty>
      )} />
  )
}

function ItemRow({ item, open }: {
  readonly item: FoundItem | undefined
  readonly open: (item: FoundItem) => void
}) {
  // A value may be long: it is written as text once.
  const preview = useMemo(() => item && JSON.stringify(item.value).slice(0, previewMax), [item])
  if (item === undefined) {
    return (
      <div className={css['row']}>
        <span role="gridcell">
          <Skeleton width={180} />
          <span className="unseen">Loading</span>
        </span>
      </div>
    )
  }
  const { namespace, key, score, ttl } = item
  return (
    <div className={css['row']} onClick={() => open(item)}>
      <span role="gridcell" className={css['name']}>
        <b dir="auto">{key}</b>
        <small dir="auto">{namespace.join(' › ')}</small>
      </span>
      <code role="gridcell" className={css['preview']} dir="auto">{preview}</code>
      <span role="gridcell" className={css['score']}>
        {score !== null && <span title="Nearness to what was asked">{score.toFixed(2)}</span>}
      </span>
      <span role="gridcell" className={css['time']}>
        <TimeText iso={item.updated_at} />
        <small>
          {ttl != null && (
            <>
              expires <TimeUntil iso={ttl.expires_at} />
            </>
          )}
        </small>
      </span>
    </div>
  )
}
