/** The address of the list of threads: its filter is all there is to remember. */

import { oneOf, textIn } from '../address.ts'
import type { RawSearch } from '../address.ts'

/** States by which threads are filtered. */
export const threadStates = ['idle', 'busy', 'interrupted', 'error'] as const

/** What the list shows. */
export interface ThreadListSearch {
  /** Words, ids and `key:value` pairs of metadata. */
  readonly q?: string | undefined
  readonly status?: typeof threadStates[number] | undefined
  readonly graph?: string | undefined
  readonly sort?: 'created' | 'updated-asc' | 'created-asc' | undefined
}

/** Reads it. */
export function readThreadListSearch(raw: RawSearch): ThreadListSearch {
  return {
    q: textIn(raw, 'q'),
    status: oneOf(raw, 'status', threadStates),
    graph: textIn(raw, 'graph'),
    sort: oneOf(raw, 'sort', ['created', 'updated-asc', 'created-asc']),
  }
}
