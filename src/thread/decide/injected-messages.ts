/**
 * Messages for a run that executes. Each is a run in the queue of its thread, whose input the run
 * before it takes into its state at its next superstep. What no run has taken is executed. Pure.
 */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { ExecutionOutcome } from '../../graph/index.ts'
import { listOf, memberOf } from '../../json/index.ts'
import { kwargsOf, planOf } from '../model/run-request.ts'
import type { ThreadState } from '../model/thread-state.ts'
import { isMessage } from '../model/waiting-message.ts'
import type { Draft } from './decision.ts'
import type { Edit } from './state-edit.ts'

/** The messages that wait, in their order. */
export function messagesIn({ runs }: Pick<ThreadState, 'runs'>): readonly RunRow[] {
  if (runs.length < 2) return []
  return runs.filter(isMessage)
}

/** Throws `not_found` for a message if no run has begun that may take it. */
export function requireTaker({ runs, row: { threadId } }: ThreadState): void {
  if (runs.some(({ started }) => started)) return
  throw new HeddleError('not_found',
    `No run executes on thread ${threadId}: begin one with the message as its input.`)
}

/** Lets the run that is executed stop where it may take the messages that wait. */
export function stopForMessages(draft: Draft, runId: string | undefined): void {
  if (runId === undefined || draft.at.refusesMessages === runId) return
  if (messagesIn(draft.state).length > 0) draft.effect({ kind: 'stopForMessages' })
}

/**
 * True if an execution has stopped where its run may take messages: between two supersteps, or at
 * an interrupt of tasks whose work so far need not be kept.
 */
export function mayTake({ status, waiting, interrupts, isMidStep }: ExecutionOutcome): boolean {
  if (status === 'drained') return true
  return status === 'success' && waiting && interrupts !== '{}' && isMidStep !== true
}

/** The edit that adds the messages to the state of a run; undefined if none waits. */
export function messagesEdit(state: ThreadState, run: RunRow, nowMs: number): Edit | undefined {
  const taken = messagesIn(state)
  if (taken.length === 0) return undefined
  const messages = taken.flatMap((each) =>
    listOf(memberOf(kwargsOf(each, planOf(each))['input'], 'messages'))
  )
  return {
    graphId: planOf(run).graphId,
    supersteps: [],
    checkpoint: null,
    before: [],
    taker: { run, taken, messagesJson: JSON.stringify(messages) },
    // The row has the checkpoint with the messages, so that each is taken exactly once.
    note: taken.map(({ runId }) => ({ $case: 'runDeleted',
      value: { runId, atMs: nowMs, taken: true } })
    ),
  }
}
