/**
 * The runs of a task. A task has the id of its first run. Each answer to a question of the graph is
 * a run of its own, whose metadata names the task, so that the task keeps its id.
 */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import { objectIn, textAt } from '../../json/index.ts'
import { canceledRunKey, hasQuestions } from '../../thread/index.ts'
import { isListedUuid } from './ids.ts'
import { A2aError } from './a2a-error.ts'
import type { AgentContext } from './context.ts'
import type { TaskState } from './task.ts'

/** Members of a run's metadata, and one of its thread's. */
export const keys = { task: 'a2a_task_id', message: 'a2a_message_id',
  canceled: canceledRunKey } as const

/** Runs of a context that are looked through for the answers to a task. */
const listedMax = 1_000

/** The first run of a task, the newest one, and the state that they say. */
export interface TaskRuns {
  readonly first: RunRow
  readonly newest: RunRow
  readonly state: TaskState
}

type FindContext = Pick<AgentContext, 'runs' | 'threads' | 'caller' | 'assistant'>

/** Finds a task of the assistant. Throws A2aError. */
export async function findTask(context: FindContext, taskId: string): Promise<TaskRuns> {
  const { runs, caller, assistant } = context
  if (!isListedUuid(taskId)) throw noTask(taskId)
  const first = await runs.find(caller, taskId.toLowerCase()).catch(noTaskFor(taskId))
  const isIts = first.assistantId === assistant.assistantId && taskOf(first) === undefined
  if (!isIts) throw noTask(taskId)
  const newest = hasQuestions(first) ? await newestOf(context, first) : first
  return { first, newest, state: await stateOf(context, newest) }
}

/** The task that a run answers to; undefined for the first run of a task. */
export function taskOf({ metadataJson }: Pick<RunRow, 'metadataJson'>): string | undefined {
  return textAt(objectIn(metadataJson || '{}'), keys.task)
}

/** The id of the message that a run was made for; undefined for a run that was made otherwise. */
export function messageOf({ metadataJson }: Pick<RunRow, 'metadataJson'>): string | undefined {
  return textAt(objectIn(metadataJson || '{}'), keys.message)
}

/** The state of the task whose newest run this is. */
export async function stateOf(
  { threads, caller }: Pick<FindContext, 'threads' | 'caller'>,
  run: RunRow,
): Promise<TaskState> {
  const state = stateAtEnd(run)
  if (state !== 'input-required') return state
  // Only the last run of a thread can wait: a later one went on without an answer.
  const { row } = await threads.get(caller, run.threadId, ['status'])
  const isLast = row.status === 'interrupted' && row.lastRunId === run.runId
  const isCanceled = textAt(objectIn(row.metadataJson || '{}'), keys.canceled) === run.runId
  return isLast && !isCanceled ? 'input-required' : 'canceled'
}

/** The state of a task when its newest run is as it is, as if nothing had followed. */
export function stateAtEnd(run: RunRow): TaskState {
  switch (run.status) {
    case 'pending':
      return 'submitted'
    case 'running':
      return 'working'
    case 'interrupted':
      return 'canceled'
    case 'error':
    case 'timeout':
      return 'failed'
    default:
      return hasQuestions(run) ? 'input-required' : 'completed'
  }
}

async function newestOf({ runs, caller }: FindContext, first: RunRow): Promise<RunRow> {
  const listed = await runs.list(caller, first.threadId, { limit: listedMax,
    select: ['run_id', 'metadata'] })
  const answer = listed.find((run) => taskOf(run) === first.runId)
  // Lists leave out what a run asks.
  return answer === undefined
    ? first
    : await runs.get(caller, { threadId: first.threadId, runId: answer.runId })
}

/** The error for a task that is not there, or not for this caller or this assistant. */
function noTask(taskId: string): A2aError {
  return new A2aError('task_not_found', 'Task not found: this agent has none with this id.', {
    about: { taskId: taskId.slice(0, 100) },
  })
}

function noTaskFor(taskId: string) {
  return (error: unknown): never => {
    throw HeddleError.from(error).code === 'not_found' ? noTask(taskId) : error
  }
}
