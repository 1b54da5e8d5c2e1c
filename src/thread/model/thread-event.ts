/** The events of a thread as protocol v2 sends them: of all its runs, in one order. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../graph/index.ts'

/** An event of a thread as protocol v2 tells it. */
export interface ThreadEvent {
  /**
   * Unique in the thread, and the same on every connection, after a restart and a failover. Of a
   * root lifecycle event `synth:<run id>:<unique>`.
   */
  readonly id: string
  /** Rises over the whole thread; the same on every connection and member. A safe integer. */
  readonly seq: number
  readonly runId: string
  readonly method: 'lifecycle' | 'values' | 'checkpoints' | 'messages' | 'tools' | 'updates'
    | 'tasks' | 'custom' | 'input.requested' | 'input.answered'
  readonly namespace: readonly string[]
  /** Never older than the events before it or the checkpoint that it belongs to. */
  readonly timestampMs: number
  readonly node?: string
  readonly data: JsonText
}

/** Called in order, with as many events at once as there are. */
export interface ThreadEventListener {
  events(batch: readonly ThreadEvent[]): void
  /** Awaited between portions. */
  ready?(): Promise<void> | undefined
  /** `gone`: the thread was deleted. After all others, follow again. */
  ended(how: 'gone' | 'lagged' | 'lost' | 'unread'): void
}

/** Which events of a thread are followed. */
export interface WatchThread {
  /** Only events with a greater `seq`; null for all that are retained. */
  readonly afterSeq: number | null
  /** With `wait` the thread need not exist yet. */
  readonly ifMissing: 'wait' | 'reject'
}

/** `seq` of the last event of the thread when this run was admitted. */
export function seqBefore(_run: RunRow): number {
  return 0
}
