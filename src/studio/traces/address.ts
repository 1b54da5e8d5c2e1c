/** The addresses of traces: filters, the chosen span, the view. */

import { textIn } from '../address.ts'
import type { RawSearch } from '../address.ts'

/** What the list of projects shows. */
export interface ProjectListSearch {
  readonly q?: string | undefined
}

/** What a project shows. */
export interface ProjectSearch {
  readonly q?: string | undefined
}

/** What a trace shows. */
export interface TraceSearch {
  /** Id of the chosen span. */
  readonly span?: string | undefined
}

/** Reads it. */
export const readProjectListSearch = (raw: RawSearch): ProjectListSearch => ({
  q: textIn(raw, 'q'),
})

/** Reads it. */
export const readProjectSearch = (raw: RawSearch): ProjectSearch => ({ q: textIn(raw, 'q') })

/** Reads it. */
export const readTraceSearch = (raw: RawSearch): TraceSearch => ({ span: textIn(raw, 'span') })
