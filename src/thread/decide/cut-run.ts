/** Cancels, rolls back and deletes runs. Pure. */

import type { CheckpointPlace, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { errorEntry } from '../model/feed-entry.ts'
import { kwargsOf, planOf } from '../model/run-request.ts'
import type { CancelRun } from '../model/thread-client.ts'
import type { ThreadState } from '../model/thread-state.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'
import { finish } from './finish-run.ts'
import { rolledBack } from './run-result.ts'
import type { Ending } from './run-result.ts'
import { startNext } from './start-next.ts'

/** Result of the preparation of a cut. */
export interface PreparedCut {
  /** Given if one of the runs is rolled back that had been started. */
  readonly rollback?: Rollback | undefined
  /** Ending of the current execution, if it completed or failed before the cut. */
  readonly ending?: Ending | undefined
}

/** Order to cut runs. */
export interface Cut extends PreparedCut {
  readonly runs: readonly RunRow[]
  readonly action: CancelRun['action']
  /** Reason in the record of an interrupted run. */
  readonly reason?: string
  /** Written with it: marks the command as done. */
  readonly note?: readonly RecordOf[]
}

/** Cancels a run that is unfinished. */
export function decideCancel(at: Situation, cut: Cut, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  cutRuns(draft, cut)
  startNext(draft)
  return draft.decided({ kind: 'done' })
}

/**
 * True if no checkpoint has the input of a started run: the head is still the checkpoint from which
 * the run started.
 */
export function lacksInput({ row }: Pick<ThreadState, 'row'>, run: RunRow): boolean {
  if ((row.head?.id ?? '') !== run.baseCheckpointId) return false
  const { input, command } = kwargsOf(run, planOf(run))
  return input != null && command == null
}

/** Deletes a run, interrupting it first if it is unfinished. */
export function decideDeleteRun(at: Situation,
  { run: deleted, note, ending }: Pick<Cut, 'ending'> & { readonly run: RemovedRun;
    readonly note: readonly RecordOf[] }, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const { runId } = deleted
  const run = draft.unfinished(runId)
  if (run) cutRuns(draft, { runs: [run], action: 'interrupt', ending })
  draft.effect({ kind: 'forgetFeed', runId })
  draft.write([...takenBack([deleted], undefined, nowMs), ...note])
  startNext(draft)
  return draft.decided({ kind: 'done' })
}

/** Ends unfinished runs; a rollback leaves no trace of them. */
export function cutRuns(draft: Draft,
  { runs, action, rollback, reason, ending, note = [] }: Cut): void {
  const executed = draft.execution?.run.runId
  draft.write(note)
  if (action === 'rollback') return takeBack(draft, runs, rollback)
  const interrupted: Ending = { status: 'interrupted', cancelReason: reason }
  for (const run of runs) {
    // Its last steps may have changed its row.
    const current = draft.unfinished(run.runId) ?? run
    finish(draft, current, run.runId === executed && ending || interrupted)
  }
}

function takeBack(draft: Draft, runs: readonly RunRow[], rollback: Rollback | undefined): void {
  draft.write(takenBack(runs, rollback, draft.atMs))
  if (rollback) {
    draft.replacePlaces(rollback.places)
    draft.effect({ kind: 'forgetExecution' })
  }
  for (const run of runs) {
    const entries = [errorEntry(rolledBack, draft.seq)]
    draft.effect({ kind: 'publish', runId: run.runId, entries })
    draft.effect({ kind: 'endRolledBack', run, seq: draft.seq })
  }
}

/** Places that were read for the rollback of a run. */
export interface Rollback {
  /** Undefined: back to no checkpoint at all. */
  readonly head: CheckpointPlace | undefined
  /** Replace the places of the dropped checkpoints, so that these are not found any more. */
  readonly places: readonly CheckpointPlace[]
}

/** Throws `not_found` for a checkpoint that the rollback drops. */
export function requireOutlive(checkpointId: string, { places }: Rollback): void {
  if (!places.some(({ id, seq }) => id === checkpointId && seq === 0)) return
  throw new HeddleError('not_found', `Checkpoint ${checkpointId} is one of the run that this one ` +
    'would roll back: begin from an earlier one, or from none.')
}

/** A run that is removed. Its Idempotency-Key is empty without one. */
type RemovedRun = Pick<RunRow, 'runId' | 'commandId' | 'createdAtMs'>

/** The records of runs that end without a trace; `rollback` is given if one had started. */
function takenBack(runs: readonly RemovedRun[], rollback: Rollback | undefined,
  atMs: number): RecordOf[] {
  if (!rollback) {
    return runs.map(({ runId, commandId, createdAtMs }) => ({ $case: 'runDeleted',
      value: { runId, atMs, ...commandId !== '' && { commandId, createdAtMs } } })
    )
  }
  const { head } = rollback
  const droppedRunIds = runs.map(({ runId }) => runId)
  return [{ $case: 'headMoved',
    value: { checkpointId: head?.id ?? '', seq: head?.seq ?? 0, base: head?.base ?? 0,
      droppedRunIds, atMs } }]
}
