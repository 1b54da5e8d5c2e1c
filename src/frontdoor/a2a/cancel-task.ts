/** Cancels a task: its run, or the question that it waits with. */

import { HeddleError } from '../../errors.ts'
import { requireAllowed } from '../http/caller.ts'
import { nameOf } from '../operations/index.ts'
import { A2aError } from './a2a-error.ts'
import type { AgentContext } from './context.ts'
import { findTask, keys } from './task-runs.ts'
import type { TaskRuns } from './task-runs.ts'

/** Resolves when the task has ended. Throws A2aError. */
export async function cancelTask(context: AgentContext, taskId: string): Promise<TaskRuns> {
  const { runs, threads, caller } = context
  requireAllowed(caller, 'change')
  const found = await findTask(context, taskId)
  const { first, newest, state } = found
  if (state === 'input-required') {
    // Nothing runs: what waits is not answered any more.
    await threads.patch(caller, newest.threadId, { metadata: {
      [keys.canceled]: newest.runId,
    } })
    return await findTask(context, taskId)
  }
  if (state !== 'submitted' && state !== 'working') throw notCancelable(first.runId, state)
  await runs.cancel(caller, nameOf(newest), { action: 'interrupt' }).catch(unlessOver)
  const after = await findTask(context, taskId)
  if (after.state !== 'canceled') throw notCancelable(first.runId, after.state)
  return after
}

/** The run may have ended meanwhile: its task says how. */
function unlessOver(error: unknown): void {
  const { retry, code } = HeddleError.from(error)
  if (retry !== 'no' || code === 'internal') throw error
}

function notCancelable(taskId: string, state: string): A2aError {
  return new A2aError('task_not_cancelable', `Task cannot be canceled: it is ${state}.`, {
    about: { taskId, state },
  })
}
