/** The address of the list of runs: its filter. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'
import { timeSpans } from './threads.ts'

/** States by which runs are filtered, in the order of their buttons. */
export const runStates = ['pending', 'running', 'success', 'error', 'timeout',
  'interrupted'] as const

/** What the page shows. */
export interface RunListSearch {
  readonly status?: typeof runStates[number] | undefined
  readonly graph?: string | undefined
  readonly since?: typeof timeSpans[number] | undefined
}

/** Reads it. */
export function readRunListSearch(raw: RawSearch): RunListSearch {
  return {
    status: oneOf(raw, 'status', runStates),
    graph: textIn(raw, 'graph'),
    since: oneOf(raw, 'since', timeSpans),
  }
}
