/**
 * The runs of a task. A task has the id of its first run. Each answer to a question of the graph is
 * a run of its own, whose metadata names the task, so that the task keeps its id.
 */

import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { objectIn, textAt } from '../../json/index.ts'
import { canceledRunKey, hasQuestions, openInterrupts } from '../../thread/index.ts'
import { isListedUuid } from './ids.ts'
import { A2aError } from './a2a-error.ts'
import type { AgentContext } from './context.ts'
import type { TaskState } from './task.ts'

/** Members of a run's metadata, and one of its thread's. */
export const keys = { task: 'a2a_task_id', message: 'a2a_message_id',
  canceled: canceledRunKey } as const

/** Runs of a context that are looked through for the answers to a task. */
const listedMax = 1_000

/** State of a task, and the interrupts that wait for a message to it. */
export interface TaskStanding {
  readonly state: TaskState
  readonly asks: readonly unknown[]
}

/** The first run of a task, the newest one, and the state of the task. */
export interface TaskRuns extends TaskStanding {
  readonly first: RunRow
  readonly newest: RunRow
}

type FindContext = Pick<AgentContext, 'runs' | 'threads' | 'caller' | 'assistant'>

/** Finds a task of the assistant. Throws A2aError. */
export async function findTask(context: FindContext, taskId: string): Promise<TaskRuns> {
  const { runs, caller, assistant } = context
  if (!isListedUuid(taskId)) throw noTask(taskId)
  const first = await runs.find(caller, taskId.toLowerCase()).catch(noTaskFor(taskId))
  const isIts = first.assistantId === assistant.assistantId && taskOf(first) === undefined
  if (!isIts) throw noTask(taskId)
  const newest = mayBeAnswered(first) ? await newestOf(context, first) : first
  return { first, newest, ...await standingOf(context, newest) }
}

/** The task that a run answers to; undefined for the first run of a task. */
export function taskOf({ metadataJson }: Pick<RunRow, 'metadataJson'>): string | undefined {
  return textAt(objectIn(metadataJson || '{}'), keys.task)
}

/** The id of the message that a run was made for; undefined for a run that was made otherwise. */
export function messageOf({ metadataJson }: Pick<RunRow, 'metadataJson'>): string | undefined {
  return textAt(objectIn(metadataJson || '{}'), keys.message)
}

/**
 * The state of the task whose newest run this is. An answer that failed or was cancelled leaves the
 * interrupt open, so the task waits for another answer.
 */
export async function standingOf(context: Pick<FindContext, 'threads' | 'runs' | 'caller'>,
  run: RunRow): Promise<TaskStanding> {
  const state = stateAtEnd(run)
  if (!mayBeAnswered(run)) return { state, asks: [] }
  const { row } = await context.threads.get(context.caller, run.threadId, ['status'])
  const isCanceled = textAt(objectIn(row.metadataJson || '{}'), keys.canceled) === run.runId
  const asks = isCanceled ? [] : openInterrupts(row)
  // A later run of another task continued without an answer.
  const isOpen = asks.length > 0 && await isLastOfTask(context, row, run)
  if (isOpen) return { state: 'input-required', asks }
  return { state: isCanceled || state === 'input-required' ? 'canceled' : state, asks: [] }
}

/** False for a run that is in progress or has completed its task. */
function mayBeAnswered(run: RunRow): boolean {
  const state = stateAtEnd(run)
  return state === 'input-required' || state === 'failed' || state === 'canceled'
}

/** True if the last run that was executed belongs to the task of this run. */
async function isLastOfTask({ runs, caller }: Pick<FindContext, 'runs' | 'caller'>,
  { threadId, lastRunId: runId = '' }: Pick<ThreadRow, 'threadId' | 'lastRunId'>,
  run: RunRow): Promise<boolean> {
  if (runId === run.runId) return true
  const last = await runs.get(caller, { threadId, runId }).catch(ignoreNotFound)
  return last !== undefined && (taskOf(last) ?? runId) === (taskOf(run) ?? run.runId)
}

/** The state of a task by its newest run alone. */
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
