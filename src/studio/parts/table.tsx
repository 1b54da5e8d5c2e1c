/** A table of rows, which are cards on small screens. */

import type { ReactNode } from 'react'

import css from './table.module.css'

/** Class names of cells: of a number, and of the row's buttons. */
export const cellClass = { number: css['number'] ?? '', acts: css['acts'] ?? '' } as const

/** A column; the cells of one with numbers have the class for numbers. */
export type TableColumn = string | {
  readonly number: string
  /** Words that explain the name. */
  readonly title?: string
}

/** A table. Cells repeat the name of their column in `data-label`, for small screens. */
export function Table({ caption, columns, hasActs = true, className = '', children }: {
  /** Text for screen readers. */
  readonly caption: string
  readonly columns: readonly TableColumn[]
  /** False if the rows have no buttons in a last column. */
  readonly hasActs?: boolean
  readonly className?: string | undefined
  readonly children: ReactNode
}) {
  return (
    <table className={`${css['table']} ${className}`}>
      <caption className="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => <HeadCell key={nameOf(column)} column={column} />)}
          {hasActs && (
            <th scope="col">
              <span className="unseen">Acts</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

function HeadCell({ column }: { readonly column: TableColumn }) {
  if (typeof column === 'string') return <th scope="col">{column}</th>
  return (
    <th scope="col" className={css['number']}>
      <span title={column.title}>{column.number}</span>
    </th>
  )
}

const nameOf = (column: TableColumn): string => typeof column === 'string' ? column : column.number
