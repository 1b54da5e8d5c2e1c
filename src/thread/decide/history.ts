/** Drops the history of a thread, and changes what its newest checkpoint says of itself. Pure. */

import type { RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { objectIn } from '../../json/index.ts'
import { requireShort } from '../../search/index.ts'
import { patchesOf } from '../model/thread-state.ts'
import { isBusy } from '../model/waiting-message.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'

/** Written with it: marks the command as done. */
interface Noted {
  readonly note: readonly RecordOf[]
}

/** Metadata keys that only the graph's own steps may set. */
const reserved = ['source', 'step', 'parents', 'run_id', 'thread_id']

/** Throws `busy` for a thread with unfinished runs, or whose state is being edited. */
export function requireIdle({ state, work }: Pick<Situation, 'state' | 'work'>): void {
  if (!isBusy(state) && !work) return
  throw new HeddleError('busy', 'Thread is busy; prune it when its runs are done.')
}

/** Only the newest state is history from now on, and the thread lives on. */
export function decideKeepLatest(at: Situation, { note }: Noted, nowMs: number): Decision {
  requireIdle(at)
  const draft = new Draft(at, nowMs)
  const checkpointId = at.state.row.head?.id ?? ''
  draft.write([{ $case: 'historyCut', value: { atMs: nowMs, checkpointId } }, ...note])
  draft.effect({ kind: 'forgetExecution' })
  return draft.decided({ kind: 'done' })
}

/**
 * Merges metadata into that of the head, which stays the same checkpoint. Throws `not_found` if
 * there is none, `invalid` for keys of the engine, or if all that was merged in gets too long.
 */
export function decidePatchState(at: Situation,
  { metadata, note }: { readonly metadata: Readonly<Record<string, unknown>> } & Noted,
  nowMs: number): Decision {
  const { row } = at.state
  if (!row.head) {
    throw new HeddleError('not_found', `Thread ${row.threadId} has no checkpoint yet.`)
  }
  const taken = reserved.filter((name) => Object.hasOwn(metadata, name))
  if (taken.length > 0) {
    throw new HeddleError('invalid', `metadata: ${taken.join(', ')} cannot be changed.`)
  }
  const checkpointId = row.head.id
  const patches = patchesOf(row)
  const before = patches.find((patch) => patch.checkpointId === checkpointId)?.metadataJson ?? '{}'
  const metadataJson = JSON.stringify({ ...objectIn(before), ...metadata })
  const others = patches.filter((patch) => patch.checkpointId !== checkpointId)
  requireShort([...others.map((patch) => patch.metadataJson), metadataJson].join(''), before)
  const draft = new Draft(at, nowMs)
  const value = { atMs: nowMs, checkpointId, metadataJson }
  draft.write([{ $case: 'checkpointPatched', value }, ...note])
  return draft.decided({ kind: 'done' })
}
