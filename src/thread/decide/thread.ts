/** Creates, patches, copies and deletes a thread. Pure. */

import type { RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'
import type { Origin } from '../model/command.ts'
import type { CreateThread, ThreadPatch } from '../model/thread-client.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'
import { patchedMetadata } from './metadata-patch.ts'
import { giveUpCanceled } from './owed.ts'
import { createdRecord } from './thread-records.ts'
import { timeToLiveFrom } from './time-to-live.ts'

/** A command that changes something, with the record that marks it as done. */
interface Noted {
  readonly note: readonly RecordOf[]
}

/** Makes a thread that does not exist. */
export function decideCreate(at: Situation,
  { metadata, timeToLive: options, note }: Pick<CreateThread, 'metadata' | 'timeToLive'> & Noted,
  nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const { threadId } = at.state.row
  const timeToLive = timeToLiveFrom(options, nowMs)
  draft.write([createdRecord(threadId, JSON.stringify(metadata), nowMs, { timeToLive }), ...note])
  return draft.decided({ kind: 'thread' })
}

/** Makes a thread whose state was taken over from another. */
export function decideAdopt(at: Situation,
  { origin, timeToLive: options, note }: { readonly origin: Origin;
    readonly timeToLive?: TimeToLiveRequest | undefined } & Noted, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const { threadId } = at.state.row
  const timeToLive = timeToLiveFrom(options, nowMs)
  draft.write([createdRecord(threadId, origin.metadataJson, nowMs, { origin, timeToLive }),
    ...note])
  return draft.decided({ kind: 'thread' })
}

/** Merges metadata, and begins a time to live. Throws `invalid` if that makes too much of it. */
export function decidePatch(at: Situation,
  { metadata, timeToLive: options, note }: ThreadPatch & Noted, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const { metadataJson: before, configJson } = at.state.row
  const metadataJson = patchedMetadata(before, metadata)
  const timeToLive = timeToLiveFrom(options, nowMs)
  const value = { atMs: nowMs, metadataJson, configJson, ...timeToLive && { timeToLive } }
  draft.write([{ $case: 'threadPatched', value }])
  giveUpCanceled(draft, metadata)
  draft.write(note)
  return draft.decided({ kind: 'thread' })
}

/**
 * Deletes a thread: its runs end without records of their own. Throws `not_found` if its log is not
 * `branchId`; any log will do if that is undefined.
 */
export function decideDelete(at: Situation,
  { branchId, note }: { readonly branchId?: string | undefined } & Noted, nowMs: number): Decision {
  const { branch, threadId } = at.state.row
  if (branchId !== undefined && branchId !== branch!.id) throw threadNotFound(threadId)
  const draft = new Draft(at, nowMs)
  draft.write([{ $case: 'threadDeleted', value: { atMs: nowMs } }, ...note])
  draft.effect({ kind: 'stopTimer' })
  draft.leaveQuarantine()
  draft.effect({ kind: 'stopRetention' })
  draft.effect({ kind: 'holdInputs', characters: 0 })
  draft.effect({ kind: 'endAll', seq: draft.seq })
  draft.effect({ kind: 'stopWebhooks' })
  draft.effect({ kind: 'refuseEdits' })
  draft.effect({ kind: 'forgetStates' })
  return draft.decided({ kind: 'purged', branch: branch! })
}

/** The error for a command to a thread that does not exist. */
export function threadNotFound(threadId: string): HeddleError {
  return new HeddleError('not_found', `Thread ${threadId} not found.`)
}
