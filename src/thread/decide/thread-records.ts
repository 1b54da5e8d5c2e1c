/** The record that makes a thread. Pure. */

import type { TimeToLive } from '../../../proto/gen/storage/v1/time_to_live.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import type { Origin } from '../model/command.ts'

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
