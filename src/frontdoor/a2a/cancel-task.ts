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
  let found = await findTask(context, taskId)
  if (found.state === 'submitted' || found.state === 'working') {
    await runs.cancel(caller, nameOf(found.newest), { action: 'interrupt' }).catch(unlessOver)
    found = await findTask(context, taskId)
  } else if (found.state !== 'input-required') throw notCancelable(found)
  if (found.state === 'input-required') {
    // The interrupt stays open, also after a cancelled answer. The task takes no more answers.
    const { newest: { threadId, runId } } = found
    await threads.patch(caller, threadId, { metadata: { [keys.canceled]: runId } })
    found = await findTask(context, taskId)
  }
  if (found.state !== 'canceled') throw notCancelable(found)
  return found
}

/** The run may have ended meanwhile: its task says how. */
function unlessOver(error: unknown): void {
  const { retry, code } = HeddleError.from(error)
  if (retry !== 'no' || code === 'internal') throw error
}

function notCancelable({ first: { runId: taskId }, state }: TaskRuns): A2aError {
  return new A2aError('task_not_cancelable', `Task cannot be canceled: it is ${state}.`, {
    about: { taskId, state },
  })
}
