/** Admits a run: makes its thread if it is missing, ends or waits for the runs before it. Pure. */

import type { RecordOf } from '../../checkpoint/index.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'
import { supersededBy } from '../model/cancel-reason.ts'
import { admissionRecords } from '../model/run-records.ts'
import type { StartRun } from '../model/thread-client.ts'
import { activeRuns } from '../model/waiting-message.ts'
import { cutRuns } from './cut-run.ts'
import type { Cut, PreparedCut } from './cut-run.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'
import { stopForMessages } from './injected-messages.ts'
import { startedPush } from './owed.ts'
import type { Admission } from './run-queue.ts'
import { startNext } from './start-next.ts'
import { asAnswer, withAnswered } from './strict-resume.ts'
import { createdRecord, timeToLiveFrom } from './thread-records.ts'

/** A run that may be started, with what was found out before. */
export interface AdmittedRun extends Required<Pick<Cut, 'note'>>, PreparedCut {
  readonly run: StartRun
  readonly admission: Admission
  /** Time to live of a thread that is made for the run. */
  readonly timeToLive?: TimeToLiveRequest | undefined
}

/** Writes the run, and starts it if nothing is before it. */
export function decideStart(at: Situation,
  { run: asked, admission, note, timeToLive, rollback, ending }: AdmittedRun,
  nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const urgency = asked.awaited ? 'soon' : 'now'
  if (!draft.state.exists) draft.write([createdBy(asked, draft, timeToLive)], urgency)
  if (admission.kind !== 'enqueue') {
    cutRuns(draft, { runs: admission.runs, action: admission.kind, rollback, ending,
      reason: supersededBy(asked.runId) })
  }
  // After a rollback, an interrupt may be open again.
  const made = asAnswer(asked, draft.state, nowMs)
  const run = startsAtOnce(draft, made) ? made : withAnswered(made, draft.state)
  draft.write([...admissionRecords(run, draft.state.row, nowMs), ...startedPush(draft, run),
    ...note], urgency)
  draft.effect({ kind: 'rememberKey', run: { commandId: run.commandId, runId: run.runId } })
  draft.effect({ kind: 'beginFeed',
    run: { runId: run.runId, awaited: run.awaited, plan: run.plan } })
  startNext(draft, { urgency })
  if (run.plan.injects) stopForMessages(draft, draft.execution?.run.runId)
  const row = draft.unfinished(run.runId)!
  if (!run.awaited) return draft.decided({ kind: 'run', run: row })
  draft.effect({ kind: 'refuseUnwritten', runId: run.runId })
  return draft.decided({ kind: 'early', run: row })
}

/** True if nothing can change the thread before the run starts. */
function startsAtOnce({ isHeld, state }: Draft, { afterMs }: StartRun): boolean {
  return afterMs === 0 && !isHeld && activeRuns(state).length === 0
}

/** A hidden thread goes when its run is done. One with a time to live may be kept then. */
function createdBy({ metadata, ifMissing, plan: { temporary, keptMinutes } }: StartRun,
  { state, nowMs }: Draft, options: TimeToLiveRequest | undefined): RecordOf {
  const hidden = ifMissing === 'hidden' && temporary
  const kept = keptMinutes === undefined
    ? undefined
    : { minutes: keptMinutes, strategy: 'delete' } as const
  const timeToLive = timeToLiveFrom(hidden ? kept : options, nowMs)
  return createdRecord(state.row.threadId, JSON.stringify(metadata), nowMs, { hidden, timeToLive })
}
