/** The address of the list of threads: its filter is all there is to remember. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** States by which threads are filtered, in the order of their buttons. */
export const threadStates = ['busy', 'interrupted', 'error', 'idle'] as const
/** How long ago threads were updated at most. */
export const timeSpans = ['1h', '24h', '7d', '30d'] as const

/** What the list shows. */
export interface ThreadListSearch {
  /** Words, ids and `key:value` pairs of metadata. */
  readonly q?: string | undefined
  readonly status?: typeof threadStates[number] | undefined
  readonly graph?: string | undefined
  readonly since?: typeof timeSpans[number] | undefined
  readonly sort?: 'created' | 'updated-asc' | 'created-asc' | undefined
  /** Id of the thread that the inbox shows. */
  readonly at?: string | undefined
}

/** Reads it. */
export function readThreadListSearch(raw: RawSearch): ThreadListSearch {
  return {
    q: textIn(raw, 'q'),
    status: oneOf(raw, 'status', threadStates),
    graph: textIn(raw, 'graph'),
    since: oneOf(raw, 'since', timeSpans),
    sort: oneOf(raw, 'sort', ['created', 'updated-asc', 'created-asc']),
    at: textIn(raw, 'at'),
  }
}
