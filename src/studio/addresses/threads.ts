/** The address of the list of threads: its filter is all there is to remember. */

import { oneOf, searchOf, text } from './search.ts'

/** States by which threads are filtered, in the order of their buttons. */
export const threadStates = ['busy', 'interrupted', 'error', 'idle'] as const
/** Longest times since the last update that the list of threads can be filtered by. */
export const timeSpans = ['1h', '24h', '7d', '30d'] as const

/** Reads what the list shows. */
export const readThreadListSearch = searchOf({
  /** Words, ids and `key:value` pairs of metadata. */
  q: text,
  status: oneOf(threadStates),
  graph: text,
  since: oneOf(timeSpans),
  sort: oneOf(['created', 'updated-asc', 'created-asc']),
  /** Id of the thread that the inbox shows. */
  at: text,
})

/** Search parameters of the list of threads, each absent if its text is invalid. */
export type ThreadListSearch = ReturnType<typeof readThreadListSearch>
