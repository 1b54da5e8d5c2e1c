/** The address of this page. */

import { textIn } from '../address.ts'
import type { RawSearch } from '../address.ts'

/** What the page shows. */
export interface ClusterSearch {
  readonly id?: string | undefined
}

/** Reads it. */
export function readClusterSearch(raw: RawSearch): ClusterSearch {
  return { id: textIn(raw, 'id') }
}
