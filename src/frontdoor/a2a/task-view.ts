/** A task as an agent sees it: its state, its results and its messages. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { listOf, memberOf, objectIn, textAt, valueIn } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { AgentContext } from './context.ts'
import { artifactsIn, historyIn, messagesIn, ofTask } from './graph-messages.ts'
import type { GraphMessages, ToolNames } from './graph-messages.ts'
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

/** Messages of a context that are looked at for one task. */
const newestMessages = 'values.messages[-200:]'

type ViewContext = Pick<AgentContext, 'threads' | 'json' | 'caller' | 'tools'>

/** The task. `values` are those of its state, if they were read before. */
export async function taskView(context: ViewContext, runs: TaskRuns, detail: TaskDetail,
  values?: JsonText): Promise<Task> {
  const { caller: { tenant }, json, tools } = context
  if (detail.historyLength === 0 && !detail.artifacts) return taskFrom(runs, detail, [], tools)
  const messages = values === undefined
    ? await messagesAt(context, runs.newest)
    : await messagesOf({ json, tenant }, values, ['messages'])
  return taskFrom(runs, detail, messages, tools)
}

/** The task with the messages of its context. Pure. */
export function taskFrom(runs: TaskRuns, detail: TaskDetail, messages: GraphMessages,
  tools: ToolNames): Task {
  const { first: { runId: id, threadId: contextId } } = runs
  const task = { id, contextId, status: statusOf(runs) }
  if (detail.historyLength === 0 && !detail.artifacts) return task
  const own = ofTask(messages, messageOf(runs.first))
  const shown = detail.historyScope === 'task' ? own : messages
  const history = historyIn(shown, { taskId: id, contextId }, detail.historyLength, tools)
  return { ...task, ...detail.artifacts && { artifacts: artifactsIn(own, id, tools) },
    ...detail.historyLength > 0 && { history } }
}

/** The status of a task, with what its graph asks, or why it failed. */
function statusOf({ first, newest, state }: TaskRuns): TaskStatus {
  const parts = saidBy(newest, state)
  const message: Message | undefined = parts.length === 0 ? undefined : {
    messageId: `${newest.runId}-${state}`,
    contextId: first.threadId,
    taskId: first.runId,
    role: 'agent',
    parts,
  }
  return { state, atMs: newest.updatedAtMs, message }
}

function saidBy(run: RunRow, state: TaskStatus['state']): readonly Part[] {
  if (state === 'input-required') return questionsOf(run)
  if (state === 'failed') {
    const message = textAt(objectIn(run.errorJson || '{}'), 'message')
    return [{ text: message ?? 'The run failed.' }]
  }
  return []
}

/** Parts that say what the interrupts of a run ask. */
function questionsOf({ interruptsJson }: RunRow): readonly Part[] {
  return Object.values(objectIn(interruptsJson || '{}')).flatMap(listOf).map((each) => {
    const value = memberOf(each, 'value') ?? null
    return typeof value === 'string' ? { text: value } : { data: value }
  })
}

/** The messages when the run ended, or now if it has not. */
async function messagesAt(context: ViewContext, run: RunRow): Promise<GraphMessages> {
  const { threads, caller } = context
  const hasEnded = run.status !== 'pending' && run.status !== 'running'
  if (hasEnded && run.finalCheckpointId === '') return []
  const at = hasEnded ? { checkpoint_id: run.finalCheckpointId } : null
  // A deleted history has no messages any more; the task stays.
  const state = await threads.state(caller, run.threadId, at, { select: [newestMessages] })
    .catch(ignoreNotFound)
  return state === undefined
    ? []
    : messagesOf({ json: context.json, tenant: caller.tenant }, state, ['values', 'messages'])
}

/** The messages in a state. Long ones are read beside the main thread. */
export async function messagesOf(
  { json, tenant }: { readonly json: Pick<LongJson, 'pick'>; readonly tenant: string },
  text: JsonText,
  path: readonly string[],
): Promise<GraphMessages> {
  const [picked = 'null'] = await json.pick(tenant, text, [path])
  return messagesIn({ messages: valueIn(picked) })
}
