/** A list page: its head, with what narrows the list, and the words for no match. */

import type { ReactNode } from 'react'

import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { SearchBox } from './search-box.tsx'

/** The button that makes a new row. */
export interface MakeRow {
  readonly words: string
  /** Why the caller may not; undefined if it may. */
  readonly refusal: string | undefined
  /** True while a row is being made. */
  readonly isBusy?: boolean
  readonly act: () => void
}

/** A box that shows `q`; `filter` gets what is typed, undefined for nothing. */
export interface NameFilter {
  readonly q: string
  readonly filter: (q: string | undefined) => void
  readonly hint?: string
}

/** The page. Its rows are a `RowList`, or a table in a `ListBody`. */
export function ListPage(
  { title, noun, total, isMore = false, aside, make, acts, search, filters, children }: {
    readonly title: string
    /** Noun for a row, such as `dataset`. */
    readonly noun: string
    /** Number of rows; undefined while nobody knows. */
    readonly total: number | undefined
    /** True if `total` counts what was read, and there is more. */
    readonly isMore?: boolean | undefined
    /** Stands beside the title in place of the number of rows. */
    readonly aside?: ReactNode
    readonly make?: MakeRow
    /** Buttons before the one that makes a row. */
    readonly acts?: ReactNode
    readonly search?: NameFilter
    /** Further filters, below the box. */
    readonly filters?: ReactNode
    readonly children: ReactNode
  },
) {
  return (
    <>
      <PageHead title={title} acts={make === undefined ? acts : (
        <>
          {acts}
          <Button kind="primary" icon={<Icon name="plus" />} disabled={make.refusal !== undefined ||
            make.isBusy} title={make.refusal} onClick={make.act}
          >
            {make.words}
          </Button>
        </>
      )} aside={aside ?? (
        <span aria-live="polite">
          {total !== undefined && counted(total, noun)}
          {isMore && ' and more'}
        </span>
      )}>
        {search && (
          <SearchBox label={`Filter ${noun}s`} hint={search.hint ?? 'Filter by name …'}
            value={search.q} change={(typed) => search.filter(typed || undefined)} />
        )}
        {filters}
      </PageHead>
      {children}
    </>
  )
}

/** Says that no row matches, and by what it would. */
export function NoMatch({ noun, by = `The name of a ${noun}` }: {
  /** Noun for a row, such as `dataset`. */
  readonly noun: string
  /** Text that the filter searches, with an article. */
  readonly by?: string
}) {
  return (
    <Empty title={`No ${noun} matches`}>
      <p>{by} has to contain what you look for.</p>
    </Empty>
  )
}
