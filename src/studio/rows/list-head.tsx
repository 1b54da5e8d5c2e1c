/** The head of a list page, with a box that filters it, and the words for no match. */

import type { ReactNode } from 'react'

import { counted } from '../parts/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { SearchBox } from './search-box.tsx'

/** A head; its box shows `q`, and `filter` gets what is typed, undefined for nothing. */
export function ListHead(
  { title, noun, total, q, filter, hint = 'Filter by name …', acts, children }: {
    readonly title: string
    /** Noun for a row, such as `dataset`. */
    readonly noun: string
    /** Number of rows; undefined while nobody knows. */
    readonly total: number | undefined
    readonly q: string
    readonly filter: (q: string | undefined) => void
    readonly hint?: string
    readonly acts?: ReactNode
    readonly children?: ReactNode
  },
) {
  return (
    <PageHead title={title} acts={acts}
      aside={<span aria-live="polite">{total !== undefined && counted(total, noun)}</span>}
    >
      <SearchBox label={`Filter ${noun}s`} hint={hint} value={q}
        change={(typed) => filter(typed || undefined)} />
      {children}
    </PageHead>
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
