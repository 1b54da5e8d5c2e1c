/** A list that is read page by page: its rows and their keys, and what stands in their place. */

import { useRef, useState } from 'react'
import type { ReactNode } from 'react'

import { RowGrid } from './row-grid.tsx'
import { useRowKeys } from './row-keys.ts'
import { NextPageNotice, RowsPending } from './row-notice.tsx'
import type { ReadRows } from './row-notice.tsx'
import { isNearEnd, useRowsAhead } from './rows-ahead.ts'
import type { RowPages } from './rows-ahead.ts'

/** A list. A row that was not read yet is drawn as undefined. */
export interface RowListProps<Row> {
  readonly pages: ReadRows & RowPages
  /** The rows that were read; undefined before the first page. */
  readonly rows: readonly Row[] | undefined
  /** Number of rows; undefined while nobody knows how many will come. */
  readonly total?: number | undefined
  readonly label: string
  /** Noun for a row, such as `dataset`. */
  readonly noun: string
  readonly rowHeight: number
  readonly row: (row: Row | undefined) => ReactNode
  readonly open: (row: Row) => void
  /** A list that comes back with the same place stands where it stood. */
  readonly place: string
  /** Content of a list without rows. */
  readonly empty: ReactNode
}

/** List of rows that reads further pages ahead of the screen. */
export function RowList<Row>(props: RowListProps<Row>) {
  const { pages, rows, empty } = props
  return (
    <>
      {rows === undefined
        ? <RowsPending pages={pages} />
        : rows.length === 0 && !pages.hasNextPage
        ? empty
        : <Rows {...props} rows={rows} />}
      <NextPageNotice pages={pages} />
    </>
  )
}

function Rows<Row>(props: RowListProps<Row> & { readonly rows: readonly Row[] }) {
  const { pages, rows, total, label, noun, rowHeight, row, open, place } = props
  const { hasNextPage } = pages
  const box = useRef<HTMLDivElement>(null)
  const [active, activate] = useState(0)
  const see = useRowsAhead(pages, (last) => isNearEnd(last, rows.length))
  useRowKeys({ title: label, noun, count: rows.length, active, activate, box })
  return (
    <RowGrid label={label} name={noun} isWhole={total !== undefined || !hasNextPage}
      total={Math.max(total ?? 0, rows.length + (total === undefined && hasNextPage ? 1 : 0))}
      rowHeight={rowHeight} active={active} activate={activate} seen={see} place={place} box={box}
      row={(index) => row(rows[index])} open={(index) => {
      const found = rows[index]
      if (found !== undefined) open(found)
    }} />
  )
}
