/** The address of this page. */

import { textIn } from '../address.ts'
import type { RawSearch } from '../address.ts'

/** What the page shows. */
export interface AssistantListSearch {
  readonly id?: string | undefined
}

/** Reads it. */
export function readAssistantListSearch(raw: RawSearch): AssistantListSearch {
  return { id: textIn(raw, 'id') }
}
