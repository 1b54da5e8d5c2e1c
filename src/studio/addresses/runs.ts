/** The address of the list of runs: its filter. */

import { oneOf, searchOf, text } from './search.ts'
import { timeSpans } from './threads.ts'

/** States by which runs are filtered, in the order of their buttons. */
export const runStates = ['pending', 'running', 'success', 'error', 'timeout',
  'interrupted'] as const

/** Reads what the page shows. */
export const readRunListSearch = searchOf({
  status: oneOf(runStates),
  graph: text,
  since: oneOf(timeSpans),
})

/** Search parameters of the list of runs, each absent if its text is invalid. */
export type RunListSearch = ReturnType<typeof readRunListSearch>
