/** The address of this page. */

import { textIn } from '../address.ts'
import type { RawSearch } from '../address.ts'

/** What the page shows. */
export interface RunListSearch {
  readonly id?: string | undefined
}

/** Reads it. */
export function readRunListSearch(raw: RawSearch): RunListSearch {
  return { id: textIn(raw, 'id') }
}
