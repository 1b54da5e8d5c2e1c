/** Rules about tasks of A2A, which are runs of a thread, and about tools of MCP. */

import type { Call } from '../history/history.ts'
import { isFinal } from './history-index.ts'
import type { HistoryIndex, RunRecord } from './history-index.ts'
import { isBefore, isRollback, isRunDeleted, mayFork } from './state-rules.ts'
import type { ThreadInHistory } from './state-rules.ts'
import type { Rule } from './violation.ts'

interface Task {
  readonly id: string
  readonly status: { readonly state: string }
  readonly artifacts?: readonly Artifact[]
}

interface Artifact {
  readonly parts: readonly { readonly text?: string }[]
}

/** A task as a response has it. */
interface TaskView {
  readonly call: Call
  readonly id: string
  readonly state: string
  /** Texts of its results; undefined if the response has none. */
  readonly texts?: readonly string[]
}

interface TaskUpdate {
  readonly task?: Task
  readonly statusUpdate?: { readonly status: { readonly state: string } }
  readonly artifactUpdate?: { readonly artifact: Artifact }
}

function toViews(call: Call): readonly TaskView[] {
  if (!call.operation.startsWith('a2a.') || call.status !== 200) return []
  const { result, results } = call.response as {
    readonly result?: TaskUpdate & Task & { readonly tasks?: readonly Task[] }
    readonly results?: readonly TaskUpdate[]
  }
  if (results !== undefined) return toStreamView(call, results)
  const tasks = result?.tasks ?? [result?.task ?? result!]
  return tasks.map(({ id, status, artifacts }) => (
    { call, id, state: status.state, texts: artifacts && toTexts(artifacts) }
  ))
}

/** The task at the end of a stream. */
function toStreamView(call: Call, results: readonly TaskUpdate[]): readonly TaskView[] {
  const id = results[0]?.task?.id
  const state = results.findLast(({ statusUpdate }) => statusUpdate)?.statusUpdate?.status.state
  const artifacts = results.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact ?? [])
  return id === undefined || state === undefined
    ? []
    : [{ call, id, state, texts: toTexts(artifacts) }]
}

function toTexts(artifacts: readonly Artifact[]): readonly string[] {
  return artifacts.flatMap(({ parts }) => parts.flatMap(({ text }) => text ?? []))
}

const prefix = 'TASK_STATE_'
const isOver = ({ state }: TaskView) => /(COMPLETED|FAILED|CANCELED)$/.test(state)

/** Statuses of the first run of a task in a state; undefined for a task that is not over. */
function statusesOf({ state }: TaskView, { start }: RunRecord): readonly string[] | undefined {
  // A task that has asked continues in further runs.
  const asked = mayAsk(start) ? ['success'] : []
  if (state === `${prefix}COMPLETED`) return ['success']
  if (state === `${prefix}FAILED`) return ['error', 'timeout', ...asked]
  if (state === `${prefix}CANCELED`) return ['interrupted', ...asked]
  return undefined
}

/** True if the task of a run may ask, or if it is not known. */
function mayAsk(start: RunRecord['start']): boolean {
  return !/^(plain|slow|fail|charge|draft)$/.test(start?.action ?? '')
}

/** True if the run of a task may be deleted or rolled back. */
function mayVanish({ thread }: ThreadInHistory, runId: string): boolean {
  return thread.deletions.length > 0 || isRunDeleted(thread, runId) ||
    thread.calls.some(isRollback)
}

/** A task that is over has the status of its run, and a run that has ended is no open task. */
const statuses: Rule<ThreadInHistory> = (subject) =>
  subject.thread.calls.flatMap(toViews).flatMap((view) => {
    const run = subject.thread.runs.get(view.id)
    const ended = run?.views.find(({ status }) => isFinal(status))
    if (run === undefined || ended === undefined) return []
    const isLate = /(SUBMITTED|WORKING)$/.test(view.state) && isBefore(ended.call, view.call)
      && !mayAsk(run.start)
    const allowed = statusesOf(view, run)
    return isLate || allowed?.includes(ended.status) === false
      ? [{ message: `Task ${view.id} is ${view.state}, its run ${ended.status}`,
        calls: [ended.call, view.call] }]
      : []
  })

/** A task that is over keeps its state. */
const kept: Rule<ThreadInHistory> = (subject) =>
  [...Map.groupBy(subject.thread.calls.flatMap(toViews), ({ id }) => id)]
    .flatMap(([id, views]) => {
      const over = views.find(isOver)
      const changed = over &&
        views.find(({ call, state }) => isBefore(over.call, call) && state !== over.state)
      if (!changed || mayVanish(subject, id)) return []
      // An earlier checkpoint may have the question of the task.
      const { thread } = subject
      const mayAskAgain = over.state !== `${prefix}COMPLETED` &&
        mayFork(thread, 0, changed.call.endMs)
      return mayAskAgain
        ? []
        : [{ message: `Task ${id} changed from ${over.state} to ${changed.state}`,
          calls: [over.call, changed.call] }]
    })

/** A message whose task is completed has the reply of its task, and none of another one. */
const replied: Rule<ThreadInHistory> = ({ thread }) =>
  thread.starts.filter(({ call: { operation }, action }) =>
    /^a2a\.(send|stream)$/.test(operation) && action !== 'answer'
  ).flatMap(({ call, token }) =>
    toViews(call).flatMap(({ id, state, texts = [] }) =>
      state !== `${prefix}COMPLETED` || texts.join() === `${token}:reply`
        ? []
        : [{ message: `Task ${id} of ${token} has the results ${texts}`, calls: [call] }]
    )
  )

interface ToolResult {
  readonly isError?: boolean
  readonly inputRequests?: object
  readonly structuredContent?: { readonly log?: readonly string[] }
}

interface ToolBody {
  readonly params: {
    readonly arguments?: { readonly task: { readonly token: string; readonly action: string } }
    readonly inputResponses?: Readonly<Record<string, { readonly content: Answer }>>
  }
}

interface Answer {
  readonly answer: string
}

function toResult({ response }: Call): ToolResult {
  return (response as { readonly result: ToolResult }).result
}

/** A call of a tool has the entries of its own task, and an error only if the task fails. */
const called: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ operation, status }) => operation === 'mcp.call' && status === 200)
    .flatMap((call) => {
      const { token, action } = (call.body as ToolBody).params.arguments!.task
      const { isError = false, inputRequests, structuredContent } = toResult(call)
      const log = structuredContent?.log ?? []
      const isRight = action === 'ask' || action === 'mail'
        ? inputRequests !== undefined || action === 'mail'
        : isError === (action === 'fail')
      const hasAll = isError || inputRequests !== undefined
        || [`${token}:in`, `${token}:out`].every((entry) => log.includes(entry))
      return isRight && hasAll && log.every((entry) => entry.startsWith(`${token}:`))
        ? []
        : [{ message: `The tool returned ${JSON.stringify(toResult(call)).slice(0, 200)}`,
          calls: [call] }]
    })

/** The result of a call whose question was answered has this answer. */
const toldAnswer: Rule<HistoryIndex> = ({ calls }) =>
  calls.filter(({ operation, status }) => operation === 'mcp.answer' && status === 200)
    .flatMap((call) => {
      const { inputResponses = {} } = (call.body as ToolBody).params
      const { inputRequests, isError, structuredContent } = toResult(call)
      const log = structuredContent?.log
      const answers = Object.values(inputResponses).map(({ content }) => content.answer)
      const isAnswered = answers.every((answer) =>
        log?.some((entry) => entry.endsWith(`:answer:${answer}`))
      )
      // The question of an effect leaves no answer in the log.
      const isEffect = log?.some((entry) => entry.includes(':receipt:')) || isError
      return inputRequests !== undefined || isAnswered || isEffect
        ? []
        : [{ message: `The tool has not used ${answers}: ${log}`, calls: [call] }]
    })

/** Rules about a thread. */
export const taskRules = { 'tasks have the status of their run': statuses,
  'tasks that are over stay so': kept, 'tasks have their result': replied }
/** Rules about the whole history. */
export const toolRules = { 'tools return their own state': called,
  'tools use the answer': toldAnswer }
