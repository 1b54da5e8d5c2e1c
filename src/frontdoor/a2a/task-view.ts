/** A task as an agent sees it: its state, its results and its messages. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { listOf, memberOf, objectIn, textAt, valueIn } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { AgentContext } from './context.ts'
import { artifactsIn, historyIn, ofTask, structuredArtifacts,
  structuredChannel } from './graph-messages.ts'
import type { ShownResult, ToolNames } from './graph-messages.ts'
import { messageOf } from './task-runs.ts'
import type { TaskRuns } from './task-runs.ts'
import type { Message, Part, Task, TaskStatus } from './task.ts'

/** Detail in which a task is shown. */
export interface TaskDetail {
  /** Messages of its history, the newest. */
  readonly historyLength: number
  /** Scope of the history: the messages of the whole context, or of the task. */
  readonly historyScope: 'context' | 'task'
  readonly artifacts: boolean
}

/** A task whose state is not read. */
export const bare: TaskDetail = { historyLength: 0, historyScope: 'task', artifacts: false }

const nothing: ShownResult = { messages: [] }

/** Messages of a context that are looked at for one task. */
const newestMessages = 'values.messages[-200:]'

type ViewContext = Pick<AgentContext, 'runs' | 'threads' | 'json' | 'caller' | 'tools'>

/** The task. `values` are the result of its newest run, if that was read before. */
export async function taskView(context: ViewContext, runs: TaskRuns, detail: TaskDetail,
  values?: JsonText): Promise<Task> {
  const { caller: { tenant }, json, tools } = context
  if (detail.historyLength === 0 && !detail.artifacts) {
    return taskFrom(runs, detail, nothing, tools)
  }
  const result = values === undefined
    ? await resultAt(context, runs.newest)
    : await shownResult({ json, tenant }, values)
  return taskFrom(runs, detail, result, tools)
}

/** The task with the result of its newest run. Pure. */
export function taskFrom(runs: TaskRuns, detail: TaskDetail, result: ShownResult,
  tools: ToolNames): Task {
  const { first: { runId: id, threadId: contextId }, newest, state } = runs
  const task = { id, contextId, status: statusOf(runs) }
  if (detail.historyLength === 0 && !detail.artifacts) return task
  const { messages } = result
  const own = ofTask(messages, messageOf(runs.first))
  const shown = detail.historyScope === 'task' ? own : messages
  const history = historyIn(shown, { taskId: id, contextId }, detail.historyLength, tools)
  const structured = state === 'completed' ? structuredArtifacts(result, newest.runId) : []
  return { ...task,
    ...detail.artifacts && { artifacts: [...artifactsIn(own, id, tools), ...structured] },
    ...detail.historyLength > 0 && { history } }
}

/** The status of a task, with what its graph asks, or why it failed. */
function statusOf({ first, newest, state, asks }: TaskRuns): TaskStatus {
  const parts = saidBy(newest, state, asks)
  const message: Message | undefined = parts.length === 0 ? undefined : {
    messageId: `${newest.runId}-${state}`,
    contextId: first.threadId,
    taskId: first.runId,
    role: 'agent',
    parts,
  }
  return { state, atMs: newest.updatedAtMs, message }
}

/** The error of the newest run, and the values of the interrupts that wait. */
function saidBy({ errorJson }: RunRow, state: TaskStatus['state'],
  asks: readonly unknown[]): readonly Part[] {
  const hasFailed = state === 'failed' || (state === 'input-required' && errorJson !== '')
  const message = textAt(objectIn(errorJson || '{}'), 'message')
  return [...hasFailed ? [{ text: message ?? 'The run failed.' }] : [], ...asks.map((each) => {
    const value = memberOf(each, 'value') ?? null
    return typeof value === 'string' ? { text: value } : { data: value }
  })]
}

/** The result of a run that has ended, or the state now if it has not. */
async function resultAt(context: ViewContext, run: RunRow): Promise<ShownResult> {
  const { runs, threads, caller, caller: { tenant }, json } = context
  const { threadId, runId, finalCheckpointId } = run
  const hasEnded = run.status !== 'pending' && run.status !== 'running'
  if (hasEnded && finalCheckpointId === '') return nothing
  // A deleted history has no messages any more; the task stays.
  if (run.hasUntracked) {
    const values = await runs.join(caller, { threadId, runId }).catch(ignoreNotFound)
    return values === undefined ? nothing : shownResult({ json, tenant }, values)
  }
  const at = hasEnded ? { checkpoint_id: finalCheckpointId } : null
  const select = [newestMessages, `values.${structuredChannel}`]
  const state = await threads.state(caller, threadId, at, { select }).catch(ignoreNotFound)
  return state === undefined ? nothing : shownResult({ json, tenant }, state, ['values'])
}

/** Picks the parts of a result that a task shows. Long results are parsed in another thread. */
export async function shownResult(
  { json, tenant }: { readonly json: Pick<LongJson, 'pick'>; readonly tenant: string },
  text: JsonText,
  path: readonly string[] = [],
): Promise<ShownResult> {
  const paths = [[...path, 'messages'], [...path, structuredChannel]]
  const [messages, structured] = (await json.pick(tenant, text, paths)).map(valueIn)
  return { messages: listOf(messages), structured: structured ?? undefined }
}
