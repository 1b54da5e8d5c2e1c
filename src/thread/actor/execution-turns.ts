/** The turns of what a thread's executions and timers report. */

import type { Turn } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { ExecutionOutcome } from '../../graph/index.ts'
import { mayTake, messagesEdit, messagesIn } from '../decide/injected-messages.ts'
import { decideEnded, decideLost, decideRecovery, decideRefused, decideRest,
  decideTimeLimit } from '../decide/run-execution.ts'
import { decideNext, decideTrial } from '../decide/start-next.ts'
import { lostEdit, slowEdit } from '../decide/state-edit.ts'
import type { OwnCommand } from '../model/command.ts'
import { activeRuns } from '../model/waiting-message.ts'
import { nodesBetweenSteps } from '../queries/next-nodes.ts'
import { perform, turn } from './perform.ts'
import type { Decide } from './perform.ts'
import { cutShort } from '../execution/cut-short.ts'
import type { Appended } from '../execution/run-output.ts'
import type { ThreadParts } from './thread-parts.ts'
import { refuseLateEdits } from './thread-turns.ts'

type Report<Type extends OwnCommand['type']> = Extract<OwnCommand, { readonly type: Type }>

/** Refuses the steps of an execution that is not the current one. Rule: [current_placement]. */
export function steps(parts: ThreadParts, report: Report<'steps'>): Turn | Promise<Turn> {
  const { executionId, batch, done: notifyDone } = report
  const { slot, editor, context } = parts
  const execution = slot.get(executionId)
  if (execution?.takes(report) === false) return { reply: undefined }
  const written = execution?.steps(batch)
    ?? editor.steps(executionId, batch.steps)
    ?? { appended: Promise.reject(new HeddleError('stale_append')) }
  lookAtSuspect(parts)
  const answer = ({ appended }: Appended): Turn => {
    appended.catch(() => {})
    notifyDone(appended)
    return { reply: undefined }
  }
  if (!(written instanceof Promise)) return answer(written)
  return written.then(answer, (error: unknown) => {
    // The log lacks this batch: what the execution builds on it cannot be written.
    context.fail(error)
    return answer({ appended: Promise.reject(error) })
  })
}

/** The execution of a run or of an edit has ended. */
export function ended(parts: ThreadParts, { executionId, outcome }: Report<'ended'>):
  | Turn
  | Promise<Turn> {
  const { editor, slot, context: { threadLog } } = parts
  if (!editor.has(executionId)) {
    if (slot.get(executionId)) threadLog.newestSteps.ended(executionId)
    if (takesMessages(parts, executionId, outcome)) return takeMessages(parts, outcome)
    return hasStopped(parts, executionId, outcome)
      ? goneOn(parts, executionId, outcome)
      : ofRun(parts, executionId, (at, nowMs) => decideEnded(at, outcome, nowMs))
  }
  if (refuseLateEdits(parts)) return { reply: undefined }
  const finished = editor.ended(outcome)
  if (!finished) return afterEdit(parts)
  return finished.then((isCurrent) => isCurrent ? afterEdit(parts) : { reply: undefined })
}

/** True if a run has stopped to go on with another revision. */
function hasStopped({ slot }: ThreadParts, executionId: number,
  { status }: ExecutionOutcome): boolean {
  return status === 'drained' && slot.get(executionId)?.isStopping === true && !slot.isResting
}

/** True if messages wait for a run that has stopped where it may take them. */
function takesMessages({ slot, context: { threadLog: { state } } }: ThreadParts,
  executionId: number, outcome: ExecutionOutcome): boolean {
  const execution = slot.get(executionId)
  if (!execution?.takesMessages || execution.isStopping || slot.isResting) return false
  const isTaker = slot.refusesMessages !== execution.run.runId && mayTake(outcome)
  return isTaker && messagesIn(state).length > 0
}

/** Hands the run back, and adds the messages to its state: then it goes on. */
function takeMessages(parts: ThreadParts, outcome: ExecutionOutcome): Turn {
  const { slot, editor, context: { threadLog, ports: { env } } } = parts
  const { run } = slot.current!
  const stopped = { ...outcome, status: 'drained' } as const
  const handedBack = turn(parts, (at, nowMs) => decideEnded(at, stopped, nowMs))
  const edit = messagesEdit(threadLog.state, run, env.nowMs())!
  const refuse = () => {
    slot.refusesMessages = run.runId
  }
  const report = ({ message: reason }: Error) =>
    env.log.debug('A run took no messages.', { runId: run.runId, reason })
  try {
    editor.edit(edit, refuse).catch(report)
    return handedBack
  } catch (error) {
    // There is no room for the edit. The run continues, and the messages become runs.
    report(HeddleError.from(error))
    refuse()
    return wake(parts)
  }
}

async function goneOn(parts: ThreadParts, executionId: number,
  outcome: ExecutionOutcome): Promise<Turn> {
  // Without its nodes, the run keeps its revision.
  const nodes = await nodesBetweenSteps(parts.context).catch(() => [])
  return ofRun(parts, executionId, (at, nowMs) => decideEnded(at, outcome, nowMs, nodes))
}

/** The worker of a run or of an edit was lost. */
export function lost(parts: ThreadParts, { executionId, reason }: Report<'lost'>): Turn {
  const { editor } = parts
  if (!editor.has(executionId)) {
    return ofRun(parts, executionId, (at, nowMs) => decideLost(at, reason, nowMs))
  }
  editor.refuse(lostEdit(reason))
  return afterEdit(parts)
}

/** The answer of a run fits no interrupt that waits. */
export function refused(parts: ThreadParts, { executionId, refusal }: Report<'refused'>): Turn {
  return ofRun(parts, executionId, (at, nowMs) => decideRefused(at, refusal, nowMs))
}

/** A run or an edit took too long. */
export function timeLimit(parts: ThreadParts, { executionId }: Report<'time_limit'>):
  | Turn
  | Promise<Turn> {
  const { editor, slot } = parts
  if (!editor.has(executionId)) {
    const execution = slot.get(executionId)
    return execution ? outOfTime(parts, execution.run) : { reply: undefined }
  }
  editor.refuse(slowEdit())
  return afterEdit(parts)
}

async function outOfTime(parts: ThreadParts, run: RunRow): Promise<Turn> {
  const outcome = await cutShort(parts, [run])
  return turn(parts, (at, nowMs) => decideTimeLimit(at, outcome, nowMs))
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
  const { current } = slot
  slot.isResting = true
  void perform(parts, (at, nowMs) => decideRest(at, timer.isSet, nowMs))
  await current?.ended
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
  if (hidden && activeRuns(state).length === 0) retention.resume()
}

/** Nothing is decided about an execution that is over. */
function ofRun(parts: ThreadParts, executionId: number, decide: Decide): Turn {
  if (!parts.slot.get(executionId)) return { reply: undefined }
  return turn(parts, decide)
}

/** Runs may start again when no edit is left. */
function afterEdit(parts: ThreadParts): Turn {
  return parts.editor.busy ? { reply: undefined } : wake(parts)
}

/** Decides on the trial: a suspect that has finished a superstep is cleared. */
function lookAtSuspect(parts: ThreadParts): void {
  if (!parts.trial.place) return
  void perform(parts, decideTrial)
}
