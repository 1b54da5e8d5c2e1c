/** Report of the calls of one replay, as its worker makes it. Plain data. */

import type { RecordedSite } from '../recording/recording.ts'

/** Place of a call, without its attempt. */
export type CallSite = Pick<RecordedSite, 'step' | 'nodes'>

/** A call, with the part of its body that differs. */
export interface ShownCall {
  /** Null outside of nodes. */
  readonly site: CallSite | null
  readonly method: string
  readonly url: string
  readonly text: string
}

/**
 * call      a call that no recorded one answers; without `recorded` it is a new one
 * connects  a connection that is no HTTP call
 * items     long-term memory, which recordings do not have
 */
export type ReplayStop =
  | { readonly kind: 'call'; readonly asked: ShownCall; readonly recorded: ShownCall | null }
  | { readonly kind: 'connects'; readonly to: string }
  | { readonly kind: 'items' }

/** A call that was answered by one of another node. */
export interface MovedCall {
  readonly from: CallSite | null
  readonly to: CallSite | null
}

/** The calls of one replayed execution. */
export interface ReplayReport {
  /** Calls that were answered. */
  readonly answered: number
  readonly moved: readonly MovedCall[]
  /** Recorded calls that were not made. */
  readonly missing: readonly ShownCall[]
  /** Reason for which it was stopped; null if it went to its end. */
  readonly stop: ReplayStop | null
}

/** Moved and missing calls that a report lists. */
export const listedMax = 50
