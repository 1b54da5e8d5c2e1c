/** The records that make a thread, and that mark a command as done. Pure. */

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

/** The record that marks a command as done; it is written in the same row as its effect. */
export function noteOf(id: string | undefined): RecordOf[] {
  return id === undefined ? [] : [{ $case: 'commandApplied', value: { commandId: id } }]
}
