/** Ends a run, or gives it back to the queue. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { WaitingPlace } from '../../../proto/gen/storage/v1/waiting.ts'
import { errorEntry } from '../model/feed-entry.ts'
import { blameless, handedBack } from '../model/run-records.ts'
import { hasQuestions } from '../model/rest.ts'
import { planOf } from '../model/run-request.ts'
import { endedRun } from '../model/run-changes.ts'
import type { Draft } from './decision.ts'
import { endedPush, isWatched } from './owed.ts'
import type { Ending } from './run-result.ts'
import { mayBeKept, show } from './thread-records.ts'

/** Ends a run for good. Followers, waiters and the webhook get the end when it is on disk. */
export function finish(draft: Draft, run: RunRow, ending: Ending): void {
  const { status, waiting = false, interruptsJson = '', values, untracked, error, at, refused,
    cancelReason, waitsAt, askers } = ending
  const { runId } = run
  const { webhook, temporary } = planOf(run)
  const owesWebhook = webhook !== undefined || isWatched(draft.state.row, run)
  const errorJson = error ? JSON.stringify(error) : ''
  const finalCheckpointId = draft.state.row.head?.id ?? ''
  const value = { ...blameless, runId, atMs: draft.atMs, status, errorJson, interruptsJson, waiting,
    finalCheckpointId, owesWebhook, refused, untrackedJson: untracked,
    ...run.started && { started: true }, ...cancelReason !== undefined && { cancelReason },
    ...waitingPlace(run.revision, waitsAt),
    ...askers !== undefined && { askers: { namespaces: { ...askers } } } }
  draft.write([{ $case: 'runEnded', value }])
  draft.write(endedPush(draft, run))
  if (hasQuestions({ interruptsJson }) && mayBeKept(draft.state.row)) show(draft)
  if (error) {
    draft.effect({ kind: 'logFailure', run, reason: error.error, at })
    draft.effect({ kind: 'publish', runId, entries: [errorEntry(errorJson, draft.seq)] })
  }
  draft.effect({ kind: 'endRun', run: endedRun(run, value, draft.seq), values, untracked })
  draft.effect({ kind: 'forgetExecution' })
  if (owesWebhook) draft.effect({ kind: 'oweWebhook' })
  if (temporary) draft.effect({ kind: 'forgetStatesSoon' })
}

/** Nodes at which a thread of a deployment waits; nothing for the server's own project. */
export function waitingPlace(revision: string | undefined,
  nodes: readonly string[] = []): { readonly waitingAt?: WaitingPlace } {
  return revision === undefined || nodes.length === 0
    ? {}
    : { waitingAt: { revision, nodes: [...nodes] } }
}

/** The run's next start continues the same attempt, unless another one is named. */
export function handBack(draft: Draft, run: RunRow, attempt = run.attempt): void {
  draft.drop('close')
  draft.write([handedBack({ ...run, attempt }, draft.nowMs)])
}
