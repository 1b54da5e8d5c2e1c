/** The address of this page. */

import { textIn } from '../address.ts'
import type { RawSearch } from '../address.ts'

/** What the page shows. */
export interface LimitsSearch {
  readonly id?: string | undefined
}

/** Reads it. */
export function readLimitsSearch(raw: RawSearch): LimitsSearch {
  return { id: textIn(raw, 'id') }
}
