/** Creates, patches, copies and deletes a thread, also of a stateless run. Pure. */

import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { metadataKeysMax, objectIn } from '../../json/index.ts'
import { requireShort } from '../../search/index.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'
import type { Origin } from '../model/command.ts'
import type { CreateThread, ThreadPatch } from '../model/thread-client.ts'
import { isBusy } from '../model/waiting-message.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'
import { giveUpCanceled } from './owed.ts'
import { createdRecord, mayBeKept, show, timeToLiveFrom } from './thread-records.ts'

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

/** Merges shallowly. Throws `invalid` if that makes too many keys, or too long a text. */
function patchedMetadata(metadataJson: JsonText,
  change: Readonly<Record<string, unknown>>): JsonText {
  const before = objectIn(metadataJson)
  const metadata = { ...before, ...change }
  // Runs add their graph and assistant, so that it may have more already.
  const most = Math.max(metadataKeysMax, Object.keys(before).length)
  if (Object.keys(metadata).length > most) {
    throw new HeddleError('invalid', `metadata: a thread keeps ${metadataKeysMax} keys at most.`)
  }
  const patched = JSON.stringify(metadata)
  requireShort(patched, metadataJson)
  return patched
}

/**
 * Deletes the thread unless a client still follows the run or a webhook is owed. A thread that may
 * be kept is shown instead, because its client may not have received the result. Messages that wait
 * for a resume end with the thread.
 */
export function decideExpiry(at: Situation, isFollowed: boolean, nowMs: number): Decision {
  const { exists, row } = at.state
  const hasEnded = exists && row.hidden && !isBusy(at.state)
  const isDue = hasEnded && row.owedWebhooks.length > 0
  const goes = hasEnded && !isDue && !isFollowed
  if (goes && !mayBeKept(row)) return decideDelete(at, { note: [] }, nowMs)
  const draft = new Draft(at, nowMs)
  if (goes) show(draft)
  draft.effect({ kind: 'awaitWebhooks', isDue })
  if (hasEnded && !isDue && !goes) draft.effect({ kind: 'retain' })
  return draft.decided()
}
