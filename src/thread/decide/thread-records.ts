/** Records that make a thread, and that list the thread of a stateless run. Pure. */

import type { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { TimeToLive } from '../../../proto/gen/storage/v1/time_to_live.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import type { Origin } from '../model/command.ts'
import type { Draft } from './decision.ts'

/** The first record of a thread: `origin` is given for a copy. */
export function createdRecord(threadId: string, metadataJson: JsonText, atMs: number,
  { hidden = false, origin, timeToLive }: { readonly hidden?: boolean; readonly origin?: Origin;
    readonly timeToLive?: TimeToLive | undefined } = {}): RecordOf {
  return { $case: 'threadCreated', value: {
    threadId,
    atMs,
    hidden,
    metadataJson,
    copiedFrom: origin?.threadId ?? '',
    headCheckpointId: origin?.head?.id ?? '',
    status: origin?.status ?? '',
    interruptsJson: origin?.interruptsJson ?? '',
    ...timeToLive && { timeToLive },
  } }
}

/** A time to live that starts now. Undefined without options. */
export function timeToLiveFrom(options: Omit<TimeToLive, 'expiresAtMs'> | undefined, nowMs: number):
  | TimeToLive
  | undefined {
  return options && { ...options, expiresAtMs: nowMs + Math.ceil(options.minutes * 60_000) }
}

/** True for a hidden thread that has a time to live: it is kept while a client may return. */
export function mayBeKept(
  { hidden, timeToLive }: Pick<ThreadRow, 'hidden' | 'timeToLive'>,
): boolean {
  return hidden && timeToLive !== undefined
}

/** Lists the thread from now on. Its time to live starts again. */
export function show(draft: Draft): void {
  const { metadataJson, configJson, timeToLive } = draft.state.row
  draft.write([{ $case: 'threadPatched',
    value: { atMs: draft.atMs, metadataJson, configJson, shown: true,
      timeToLive: timeToLiveFrom(timeToLive, draft.nowMs) } }])
}
