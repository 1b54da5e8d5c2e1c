/** The addresses of annotation queues. */

import { textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** What the list of queues shows. */
export interface QueueListSearch {
  /** A part of the names. */
  readonly q?: string | undefined
}

/** What a queue shows. */
export interface QueueSearch {
  /** Which of the items that are to be looked at; the first one without it. */
  readonly at?: number | undefined
}

/** Reads it. */
export const readQueueListSearch = (raw: RawSearch): QueueListSearch => ({ q: textIn(raw, 'q') })

/** Reads it. */
export function readQueueSearch(raw: RawSearch): QueueSearch {
  const at = Number(raw['at'])
  return Number.isSafeInteger(at) && at > 0 ? { at } : {}
}
