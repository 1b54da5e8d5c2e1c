/** An event in the feed of a run, and those that the thread makes itself. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { endIndex, lastIndex } from './event-position.ts'
import type { EventPlace } from './event-position.ts'

/** An event of a run, with its place in the log. */
export interface FeedEntry {
  readonly place: EventPlace
  readonly name: string
  /** Undefined: the state values of `valuesOf`, not looked up yet. */
  readonly json: JsonText | undefined
  /** The checkpoint whose values the event carries; empty for none. */
  readonly valuesOf: string
}

/** The event that says which attempt the next events belong to. `seq` is the row that starts it. */
export function metadataEntry(runId: string, attempt: number, seq: number): FeedEntry {
  const json = JSON.stringify({ run_id: runId, attempt })
  return { place: { seq, index: 0 }, name: 'metadata', json, valuesOf: '' }
}

/** The event that says why a run failed. `seq` is the row that ends it. */
export function errorEntry(json: JsonText, seq: number): FeedEntry {
  return { place: { seq, index: lastIndex }, name: 'error', json, valuesOf: '' }
}

/** End of a run as its stream says it: its status, or that nothing is left of it. */
export type EndOfRun = Pick<RunRow, 'runId' | 'lastSeq'> & { readonly status: string }

/** The event that says that no other follows, and how the run ended. */
export function endEntry({ runId, status, lastSeq }: EndOfRun): FeedEntry {
  const json = JSON.stringify({ run_id: runId, status })
  return { place: { seq: lastSeq, index: endIndex }, name: 'end', json, valuesOf: '' }
}
