/** Starts the run whose turn it is, or waits for it. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { metadataEntry } from '../model/feed-entry.ts'
import type { Urgency } from '../log/log-writer.ts'
import { startedRecord } from '../model/run-records.ts'
import { planOf } from '../model/run-request.ts'
import { activeRuns } from '../model/waiting-message.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'
import { finish } from './finish-run.ts'
import { stopForMessages } from './injected-messages.ts'
import { giveUpWaiting } from './owed.ts'
import { pinOf, revisionFor } from './pinned-revision.ts'
import { attemptsMax, charactersOf, nextRun } from './run-queue.ts'
import { outOfAttempts } from './run-result.ts'
import { lateRefusal } from './strict-resume.ts'

/** Circumstances in which a run is started. */
export interface StartOptions {
  readonly urgency?: Urgency
  /** The thread is being loaded, so that no row of this activation is on disk yet. */
  readonly woken?: boolean
  /** The run has stopped for this revision: it does not stop for it again. */
  readonly stoppedFor?: string
}

/** A run may be due, or nothing holds the runs up any more. */
export function decideNext(at: Situation, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  stopForPointer(draft)
  startNext(draft)
  return draft.decided()
}

/** The suspect on trial may have finished a superstep. */
export function decideTrial(at: Situation, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  lookAfterSuspect(draft)
  return draft.decided()
}

/** Starts what may start now, or sets a timer for when something may. */
export function startNext(draft: Draft, options: StartOptions = {}): void {
  draft.effect({ kind: 'stopTimer' })
  holdInputs(draft)
  lookAfterSuspect(draft)
  if (draft.isHeld) return
  const next = nextRun(activeRuns(draft.state), draft.nowMs, draft.execution !== undefined)
  if (next.kind === 'start' && isPaused(draft, next.run)) {
    return draft.effect({ kind: 'watchDeployment' })
  }
  if (next.kind === 'start' && mayStart(draft, next.run)) {
    launch(draft, next.run, next.attempt, options)
  }
  if (next.kind === 'wait') draft.effect({ kind: 'wakeAt', atMs: next.atMs })
}

/** Writes that the attempt has begun, and has it executed. A run without attempts left ends. */
export function launch(draft: Draft, run: RunRow, attempt: number,
  options: StartOptions = {}): void {
  const refusal = lateRefusal(run, draft.state)
  const pin = pinOf(draft, run)
  const { revision, moved } = pin
  const ending = refusal ? { status: 'error', error: refusal } as const : pin.ending
  const tried = moved ? attempt + 1 : attempt
  if (ending || tried > attemptsMax) {
    finish(draft, run, ending ?? outOfAttempts)
    return startNext(draft, options)
  }
  begin(draft, revision === undefined ? run : { ...run, revision }, tried, options)
}

function begin(draft: Draft, run: RunRow, attempt: number,
  { urgency = 'now', woken = false, stoppedFor }: StartOptions): void {
  const { runId, started: resumes } = run
  const baseCheckpointId = resumes ? run.baseCheckpointId : draft.state.row.head?.id ?? ''
  giveUpWaiting(draft, run)
  draft.write([startedRecord({ ...run, attempt, baseCheckpointId }, draft.atMs)], urgency)
  draft.effect({ kind: 'publish', runId, entries: [metadataEntry(runId, attempt, draft.seq)] })
  const begun = draft.unfinished(runId)!
  draft.effect({ kind: 'execute', run: begun, resumes, woken, stoppedFor })
  stopForMessages(draft, runId)
  stopFor(draft, begun, stoppedFor)
}

/** The pointer may have moved while a run is executed. */
function stopForPointer(draft: Draft): void {
  const { execution } = draft
  if (execution) stopFor(draft, execution.run, execution.stopsFor)
}

/** Lets a run stop that is to go on with another revision. It stops once for each. */
function stopFor(draft: Draft, run: RunRow, stopsFor: string | undefined): void {
  if (draft.at.deployment === undefined) return
  const revision = revisionFor(draft, run)
  if (revision !== undefined && revision !== stopsFor) draft.effect({ kind: 'stopFor', revision })
  draft.effect({ kind: 'watchDeployment' })
}

/** Accounts for the inputs of the runs that are left. */
export function holdInputs(draft: Draft): void {
  draft.effect({ kind: 'holdInputs', characters: charactersOf(draft.state.runs) })
}

/** Ends the trial of a run that has ended, or has finished a superstep. */
function lookAfterSuspect(draft: Draft): void {
  const { suspect: place, state: { runs } } = draft
  if (!place || runs.some(({ runId, suspect }) => suspect && runId === place.runId)) return
  draft.leaveQuarantine()
}

/** A paused deployment starts nothing but trial runs. What has started goes on to its end. */
function isPaused({ at: { deployment } }: Draft, run: RunRow): boolean {
  return deployment?.paused === true && !run.started && planOf(run).trial !== true
}

/** A suspect waits for its turn in the quarantine. */
function mayStart(draft: Draft, run: RunRow): boolean {
  if (!run.suspect) return true
  if (draft.suspect?.runId === run.runId) return draft.suspect.isOn
  draft.leaveQuarantine()
  draft.effect({ kind: 'enterQuarantine', run })
  return false
}
