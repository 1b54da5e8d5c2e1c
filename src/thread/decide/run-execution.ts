/** Changes of a run by the end, the loss or the recovery of its execution. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ExecutionOutcome, LossReason } from '../../graph/index.ts'
import { attemptAfterProof, verdictOn } from './crash-blame.ts'
import { Draft } from './decision.ts'
import type { CurrentExecution, Decision, Situation } from './decision.ts'
import { finish, handBack } from './finish-run.ts'
import { movedRevision } from './pinned-revision.ts'
import { attemptOf, attemptsMax, storeFailedMs } from './run-queue.ts'
import { endingOf, outOfAttempts, outOfMemory } from './run-result.ts'
import type { Ending } from './run-result.ts'
import { holdInputs, launch, startNext } from './start-next.ts'

/** The execution has ended by itself. `nodes` would run next, if it has stopped for a revision. */
export function decideEnded(at: Situation, outcome: ExecutionOutcome, nowMs: number,
  nodes: readonly string[] = []): Decision {
  const ending = endingOf(outcome)
  if (ending) return decideOver(at, ending, nowMs)
  const draft = new Draft(at, nowMs)
  const { execution } = draft
  if (!execution || outcome.status === 'aborted') return draft.decided()
  const { run: { runId }, isStopping } = execution
  handBack(draft, draft.unfinished(runId)!)
  if (isStopping && !draft.at.isResting) move(draft, runId, execution, nodes)
  return draft.decided()
}

/** The run that is executed ends. A worker that may still execute it is stopped. */
export function decideOver(at: Situation, ending: Ending, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const run = draft.execution?.run
  if (!run) return draft.decided()
  if (ending.status !== 'timeout') draft.drop('close')
  finish(draft, draft.unfinished(run.runId)!, ending)
  startNext(draft)
  return draft.decided()
}

/** The worker was lost: the run moves to another, as a new attempt unless `displaced`. */
export function decideLost(at: Situation, reason: LossReason, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const run = draft.execution?.run
  if (run) moveOn(draft, run, reason)
  return draft.decided()
}

/**
 * The thread moves to another owner: nothing more is started, and the running run is handed back,
 * at its next superstep if it is executed. `isTimed`: a timer is set.
 */
export function decideRest(at: Situation, isTimed: boolean, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  startNext(draft)
  const { execution } = draft
  const running = runningOf(draft)
  // A run that waits for the store has a timer; one whose worker died here has none.
  if (execution?.begun) draft.effect({ kind: 'pause' })
  else if ((execution || isTimed) && running) handBack(draft, running)
  return draft.decided()
}

/** State in which a thread was found when it was loaded. */
export interface Found {
  /** Only the store had failed under the activation before this one. */
  readonly storeFailed: boolean
  /** The last row is an earlier owner's. */
  readonly isInherited: boolean
  /** A worker of the dead owner had entered the code of this run last. */
  isMarked(run: RunRow): boolean
}

/**
 * The thread is loaded with unfinished runs. A run that was running has lost its owner, or the
 * activation before this one: that costs an attempt. If only the store had failed, it waits for a
 * while.
 */
export function decideRecovery(at: Situation, { storeFailed, isInherited, isMarked }: Found,
  nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  for (const run of at.state.runs) draft.effect({ kind: 'resumeFeed', run, seq: draft.seq })
  holdInputs(draft)
  const run = runningOf(draft)
  if (storeFailed) {
    draft.effect({ kind: 'wakeIn', ms: storeFailedMs })
  } else if (!run) startNext(draft, { woken: true })
  else if (isInherited) judge(draft, run, isMarked(run))
  else launch(draft, run, attemptOf(run), { woken: true })
  return draft.decided()
}

/** The owner before this one died with the run in progress. */
function judge(draft: Draft, run: RunRow, isMarked: boolean): void {
  const { kind, ownerDeaths } = verdictOn(run, isMarked)
  if (kind === 'innocent') {
    return launch(draft, { ...run, ownerDeaths }, run.attempt, { woken: true })
  }
  if (kind === 'guilty') finish(draft, run, outOfAttempts)
  else handBack(draft, { ...run, ownerDeaths, suspect: true })
  startNext(draft, { woken: true })
}

function moveOn(draft: Draft, run: RunRow, reason: LossReason): void {
  draft.drop('close')
  const current = draft.unfinished(run.runId)!
  if (reason === 'full') {
    finish(draft, current, outOfMemory)
    return startNext(draft)
  }
  // A suspect has a process of its own.
  if (run.suspect && reason === 'crashed') return proven(draft, current)
  if (reason === 'displaced') handBack(draft, current)
  if (draft.at.isResting) return
  launch(draft, current, reason === 'displaced' ? run.attempt : attemptOf(current))
}

/** The run has stopped so that it can go on with another revision. That costs no attempt. */
function move(draft: Draft, runId: string, { stopsFor }: CurrentExecution,
  nodes: readonly string[]): void {
  const run = draft.unfinished(runId)!
  const revision = movedRevision(draft, run, nodes)
  launch(draft, { ...run, ...revision !== undefined && { revision } }, run.attempt, {
    ...stopsFor !== undefined && { stoppedFor: stopsFor },
  })
}

/** Counts the attempts of a suspect whose own process died: back to the quarantine, or the end. */
function proven(draft: Draft, run: RunRow): void {
  draft.leaveQuarantine()
  const attempt = attemptAfterProof(run)
  if (attempt > attemptsMax) finish(draft, run, outOfAttempts)
  else handBack(draft, { ...run, ownerDeaths: 0, suspect: true }, attempt)
  if (!draft.at.isResting) startNext(draft)
}

function runningOf({ state }: Draft): RunRow | undefined {
  return state.runs.find(({ status }) => status === 'running')
}
