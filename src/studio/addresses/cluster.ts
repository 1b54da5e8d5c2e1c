/** The address of this page. */

import { textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** What the page shows: one member stands out if it is chosen. */
export interface ClusterSearch {
  readonly member?: string | undefined
}

/** Reads it. */
export function readClusterSearch(raw: RawSearch): ClusterSearch {
  return { member: textIn(raw, 'member') }
}
