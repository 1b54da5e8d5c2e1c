/** The turns of what a thread's executions and timers report. */

import type { Turn } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { ExecutionOutcome } from '../../graph/index.ts'
import { mayTake, messagesEdit, messagesIn } from '../decide/injected-messages.ts'
import { decideEnded, decideLost, decideOver, decideRecovery,
  decideRest } from '../decide/run-execution.ts'
import { outOfTime } from '../decide/run-result.ts'
import type { Ending } from '../decide/run-result.ts'
import { decideNext, decideTrial } from '../decide/start-next.ts'
import { decideEdited, editAnswer, failedEdit, lostEdit, newestCheckpoint,
  slowEdit } from '../decide/state-edit.ts'
import type { OwnCommand } from '../model/command.ts'
import { isBusy } from '../model/waiting-message.ts'
import { nodesBetweenSteps } from '../queries/waiting-paths.ts'
import { perform, turn } from './perform.ts'
import type { Decide } from './perform.ts'
import { cutShort } from '../execution/cut-short.ts'
import type { RunExecution } from '../execution/run-execution.ts'
import { notifyAppended } from '../execution/run-output.ts'
import type { StateEdit } from '../execution/state-edit.ts'
import type { ThreadParts } from './thread-parts.ts'
import { refuseLateEdits } from './thread-turns.ts'

const nothing: Turn = { reply: undefined }

type Report<Type extends OwnCommand['type']> = Extract<OwnCommand, { readonly type: Type }>

/** Refuses the steps of an execution that is not the current one. Rule: [current_placement]. */
export function steps(parts: ThreadParts, report: Report<'steps'>): Turn | Promise<Turn> {
  const { slot, trial, context } = parts
  const work = slot.get(report.executionId)
  if (work?.kind === 'run' && !work.takes(report)) return nothing
  const written = work?.steps(report.batch) ??
    { appended: Promise.reject(new HeddleError('stale_append')) }
  // A suspect that has finished a superstep is cleared.
  if (trial.place) void perform(parts, decideTrial)
  const noted = notifyAppended(written, report.done, context)
  return noted ? noted.then(() => nothing, () => nothing) : nothing
}

/** The execution of a run or of an edit has ended. */
export function ended(parts: ThreadParts, { executionId, outcome }: Report<'ended'>):
  | Turn
  | Promise<Turn> {
  const { slot, context: { threadLog } } = parts
  const work = slot.get(executionId)
  if (!work) return nothing
  if (work.kind === 'edit') return editEnded(parts, work, outcome)
  threadLog.newestSteps.ended(executionId)
  if (takesMessages(parts, work, outcome)) return takeMessages(parts, work, outcome)
  const hasStopped = outcome.status === 'drained' && work.isStopping && !slot.isResting
  return hasStopped
    ? goneOn(parts, executionId, outcome)
    : turn(parts, (at, nowMs) => decideEnded(at, outcome, nowMs))
}

/** True if messages wait for a run that has stopped where it may take them. */
function takesMessages({ slot, context: { threadLog: { state } } }: ThreadParts,
  { takesMessages, isStopping, run }: RunExecution, outcome: ExecutionOutcome): boolean {
  if (!takesMessages || isStopping || slot.isResting) return false
  return slot.refusesMessages !== run.runId && mayTake(outcome) && messagesIn(state).length > 0
}

/** Hands the run back, and adds the messages to its state: then it goes on. */
function takeMessages(parts: ThreadParts, { run }: RunExecution, outcome: ExecutionOutcome): Turn {
  const { slot, context: { threadLog, ports: { env } } } = parts
  const stopped = { ...outcome, status: 'drained' } as const
  const handedBack = turn(parts, (at, nowMs) => decideEnded(at, stopped, nowMs))
  const report = ({ message: reason }: Error) =>
    env.log.debug('A run took no messages.', { runId: run.runId, reason })
  try {
    slot.edit(messagesEdit(threadLog.state, run, env.nowMs())!).catch(report)
    return handedBack
  } catch (error) {
    // There is no room for the edit. The run continues, and the messages become runs.
    report(HeddleError.from(error))
    slot.refusesMessages = run.runId
    return wake(parts)
  }
}

function editEnded(parts: ThreadParts, edit: StateEdit, outcome: ExecutionOutcome):
  | Turn
  | Promise<Turn> {
  if (refuseLateEdits(parts)) return nothing
  return outcome.status === 'success'
    ? finishEdit(parts, edit, outcome)
    : refuseEdit(parts, edit, failedEdit(outcome))
}

/** The turn waits for it: another run or edit would forget the places that are looked up. */
async function finishEdit(parts: ThreadParts, work: StateEdit,
  outcome: ExecutionOutcome): Promise<Turn> {
  const { slot, context: { threadLog, threadId } } = parts
  const { id: executionId, edit, reported: steps, revision, result } = work
  try {
    await threadLog.ready(steps)
    // The thread may have been passivated during the wait: no work may start then.
    if (!slot.get(executionId)) return nothing
    const edited = { edit, steps, outcome, revision }
    const durable = perform(parts, (at, nowMs) => decideEdited(at, edited, nowMs))
    threadLog.newestSteps.ended(executionId)
    const id = newestCheckpoint(steps) ?? threadLog.state.row.head?.id ?? null
    const place = { threadId, selector: edit.checkpoint, id }
    result.resolve(durable.then(() => editAnswer(place)))
  } catch (error) {
    return slot.get(executionId) ? refuseEdit(parts, work, HeddleError.from(error)) : nothing
  }
  slot.close()
  return afterEdit(parts)
}

function refuseEdit(parts: ThreadParts, edit: StateEdit, reason: HeddleError): Turn {
  parts.slot.refuseEdit(edit, reason)
  return afterEdit(parts)
}

async function goneOn(parts: ThreadParts, executionId: number,
  outcome: ExecutionOutcome): Promise<Turn> {
  // Without its nodes, the run keeps its revision.
  const nodes = await nodesBetweenSteps(parts.context).catch(() => [])
  return ofRun(parts, executionId, (at, nowMs) => decideEnded(at, outcome, nowMs, nodes))
}

/** The worker of a run or of an edit was lost. */
export function lost(parts: ThreadParts, { executionId, reason }: Report<'lost'>): Turn {
  const work = parts.slot.get(executionId)
  if (work?.kind === 'edit') return refuseEdit(parts, work, lostEdit(reason))
  return ofRun(parts, executionId, (at, nowMs) => decideLost(at, reason, nowMs))
}

/** The answer of a run fits no interrupt that waits. */
export function refused(parts: ThreadParts, { executionId, refusal }: Report<'refused'>): Turn {
  const ending: Ending = { status: 'error', error: refusal, refused: true }
  return ofRun(parts, executionId, (at, nowMs) => decideOver(at, ending, nowMs))
}

/** A run or an edit took too long. */
export function timeLimit(parts: ThreadParts, { executionId }: Report<'time_limit'>):
  | Turn
  | Promise<Turn> {
  const work = parts.slot.get(executionId)
  if (!work) return nothing
  return work.kind === 'edit'
    ? refuseEdit(parts, work, slowEdit())
    : endLate(parts, work.run)
}

async function endLate(parts: ThreadParts, run: RunRow): Promise<Turn> {
  // It may have ended just before.
  const ending = await cutShort(parts, [run]) ?? outOfTime
  return turn(parts, (at, nowMs) => decideOver(at, ending, nowMs))
}

/** Starts the next run or edit that is due. */
export function wake(parts: ThreadParts): Turn {
  return turn(parts, decideNext)
}

/**
 * Starts no more runs and hands the running one back at its next superstep, so that the next owner
 * continues the same attempt. Resolves when it was handed back or has ended.
 */
export async function rest(parts: ThreadParts): Promise<void> {
  const { slot, timer } = parts
  const { execution } = slot
  slot.isResting = true
  void perform(parts, (at, nowMs) => decideRest(at, timer.isSet, nowMs))
  await execution?.ended
}

/** The thread was loaded: its runs continue. `storeFailed`: only that ended the life before. */
export function recover(parts: ThreadParts, storeFailed: boolean): void {
  const { context: { threadLog, ports: { quarantine } }, retention, expiry } = parts
  const { state } = threadLog
  const { row: { deleted, hidden }, runs } = state
  if (deleted) return
  expiry.look()
  if (runs.length > 0) {
    const { isInherited } = threadLog
    const found = { storeFailed, isInherited, isMarked: (run: RunRow) => quarantine.isMarked(run) }
    void perform(parts, (at, nowMs) => decideRecovery(at, found, nowMs))
  }
  // It is unknown whether any client got the end of a stateless run.
  if (hidden && !isBusy(state)) retention.resume()
}

/** Returns no turn if the work has ended. */
function ofRun(parts: ThreadParts, executionId: number, decide: Decide): Turn {
  return parts.slot.get(executionId) ? turn(parts, decide) : nothing
}

/** Runs may start again when no edit is left. */
function afterEdit(parts: ThreadParts): Turn {
  return parts.slot.isEditing ? nothing : wake(parts)
}
