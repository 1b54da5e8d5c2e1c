/** Events of a thread as protocol v2 tells them, their numbers, and who gets them. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { EventPlace } from './event-position.ts'

/** Subject of an event of a thread: the methods of protocol v2. */
export type ThreadEventMethod = 'lifecycle' | 'values' | 'checkpoints' | 'messages' | 'tools'
  | 'updates' | 'tasks' | 'custom' | 'input.requested' | 'input.answered'

/** An event of a thread as protocol v2 tells it. */
export interface ThreadEvent {
  /**
   * Unique in the thread, and the same on every connection, member and replay. That of a root
   * `lifecycle` event is `synth:<run id>:<seq>`.
   */
  readonly id: string
  /** Rises over the whole thread; a safe integer, the same on every connection and member. */
  readonly seq: number
  /** Empty for an edit of the state. */
  readonly runId: string
  readonly method: ThreadEventMethod
  readonly namespace: readonly string[]
  /** Milliseconds since 1970: never older than the checkpoint that the event belongs to. */
  readonly timestampMs: number
  /** The graph node that the event is from. */
  readonly node?: string
  /** `params.data` as JSON text. */
  readonly data: JsonText
}

/** End of a follow of a thread; see `ThreadEventListener.ended`. */
export type ThreadFollowEnd = 'gone' | 'lagged' | 'lost' | 'unread'

/** Called in order, with as many events at once as there are. */
export interface ThreadEventListener {
  events(batch: readonly ThreadEvent[]): void
  /** Awaited between portions of past events, as that of a `FeedListener`. */
  ready?(): Promise<void> | undefined
  /**
   * `gone`: the thread was deleted. Anything else: no owner could be followed for a while; follow
   * again behind the last event.
   */
  ended(how: ThreadFollowEnd): void
}

/** The events of a thread that are followed. */
export interface WatchThread {
  /** Only later ones; null for all that are retained. */
  readonly afterSeq: number | null
  /**
   * Leaves out the end of each run that ended before the unfinished ones were admitted, if
   * `afterSeq` is null: who has just started a run takes the first end for that of the own run.
   */
  readonly skipsOldEnds?: boolean
  /** `wait`: the thread need not exist yet. */
  readonly ifMissing: 'wait' | 'reject'
}

/**
 * Numbers that each row of the log has for events of the thread. The first half is for those that
 * its records stand for, the second for those that come behind the row without being kept. A
 * thread can have 134 million rows until its numbers are no safe integers any more.
 */
const slotsOfRow = 2 ** 26

/** The first number for events behind a row. */
export const firstTailSlot = slotsOfRow / 2

/** Events beyond it have no number and are dropped. */
export const lastTailSlot = slotsOfRow - 1

/** The number of an event in its thread. */
export function threadSeqOf({ seq, index }: EventPlace): number {
  return seq * slotsOfRow + index
}

/** The place of the event with a number. */
export function placeOfThreadSeq(seq: number): EventPlace {
  return { seq: Math.floor(seq / slotsOfRow), index: seq % slotsOfRow }
}

/** The lowest number that an event of a row may have. */
export function firstSeqOfRow(seq: number): number {
  return threadSeqOf({ seq, index: 0 })
}

/** Number of the last event of the thread before the row that admitted the run. */
export function seqBefore({ createdSeq }: Pick<RunRow, 'createdSeq'>): number {
  return Math.max(0, firstSeqOfRow(createdSeq) - 1)
}
