/** Lists the tasks of an assistant, the newest status first. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { SearchRuns } from '../../api/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { cursorParts, cursorText } from '../schema/cursor.ts'
import type { AgentContext } from './context.ts'
import { isListedUuid } from './ids.ts'
import { badField, historyMax } from './params.ts'
import type { ListParams } from './params.ts'
import { standingOf, taskOf } from './task-runs.ts'
import type { TaskRuns, TaskStanding } from './task-runs.ts'
import { taskView } from './task-view.ts'
import { stateName, stateNamed } from './task.ts'
import type { Task, TaskState } from './task.ts'

/** The newest runs that a list looks at. Older tasks are found by their ids. */
const lookedAtMax = 1_000
const pageSizeUsual = 50
const listedTexts = ['metadataJson', 'interruptsJson', 'errorJson'] as const

/** A page of tasks. */
export interface TaskPage {
  readonly tasks: readonly Task[]
  /** Empty if this is the last page. */
  readonly nextPageToken: string
  readonly pageSize: number
  /** Tasks on all pages. */
  readonly totalSize: number
}

/** Throws A2aError and HeddleError. */
export async function listTasks(context: AgentContext, params: ListParams): Promise<TaskPage> {
  const { contextId, status, statusTimestampAfter, pageToken } = params
  if (contextId != null && contextId !== '' && !isListedUuid(contextId)) {
    throw badField('contextId', 'must be a UUID')
  }
  const asked = stateIn(status)
  const sinceMs = timeIn(statusTimestampAfter)
  const place = placeIn(pageToken)
  const pageSize = params.pageSize ?? pageSizeUsual
  const found = tasksAmong(await runsOf(context, contextId))
    .filter(({ newest }) => newest.updatedAtMs >= sinceMs)
    .toSorted((a, b) => isBefore(placeOf(a), placeOf(b)) ? -1 : 1)
  const known = await withStates(context, found, asked)
  const behind = place === undefined
    ? known
    : known.filter((each) => isBefore(place, placeOf(each)))
  const page = behind.slice(0, pageSize)
  const last = page.at(-1)
  return {
    tasks: await Promise.all(page.map((each) => viewOf(context, each, params))),
    nextPageToken: last && behind.length > page.length ? cursorText(placeOf(last)) : '',
    pageSize,
    totalSize: known.length,
  }
}

/** A page as JSON. */
export function pageJson({ tasks, ...page }: TaskPage, json: (task: Task) => object): object {
  return { tasks: tasks.map(json), ...page }
}

type Place = readonly [updatedAtMs: number, taskId: string]
type Listed = Pick<TaskRuns, 'first' | 'newest'> & { readonly standing?: TaskStanding | undefined }

function placeOf({ first, newest }: Listed): Place {
  return [newest.updatedAtMs, first.runId]
}

/** Newest first. */
function isBefore(a: Place, b: Place): boolean {
  return a[0] > b[0] || (a[0] === b[0] && a[1] > b[1])
}

async function runsOf({ runs, caller, assistant: { assistantId }, left }: AgentContext,
  contextId: string | null | undefined): Promise<readonly RunRow[]> {
  const request: SearchRuns = { assistant_id: assistantId, limit: lookedAtMax,
    ...contextId && { thread_id: contextId.toLowerCase() } }
  const rows: RunRow[] = []
  let cursor: string | undefined
  do {
    const page = await runs.search(caller, { ...request, ...cursor && { cursor } }, left,
      listedTexts)
    rows.push(...page.rows)
    cursor = page.cursor
  } while (cursor !== undefined && rows.length < lookedAtMax)
  return rows.slice(0, lookedAtMax)
}

/** The runs by their tasks. Runs come newest first; an answer without its first run is left out. */
function tasksAmong(rows: readonly RunRow[]): readonly Listed[] {
  const newest = new Map<string, RunRow>()
  for (const row of rows) {
    const task = taskOf(row) ?? row.runId
    if (!newest.has(task)) newest.set(task, row)
  }
  return rows.filter((row) => taskOf(row) === undefined)
    .map((first) => ({ first, newest: newest.get(first.runId)! }))
}

/** A state is only looked up where the list depends on it. */
async function withStates(context: AgentContext, found: readonly Listed[],
  asked: TaskState | undefined): Promise<readonly Listed[]> {
  if (asked === undefined) return found
  const all = await Promise.all(
    found.map(async (each) => ({ ...each,
      standing: await standingOf(context, each.newest).catch(ignoreNotFound) })
    ),
  )
  return all.filter(({ standing }) => standing?.state === asked)
}

async function viewOf(context: AgentContext, { first, newest, standing }: Listed,
  { historyLength, historyScope, includeArtifacts }: ListParams): Promise<Task> {
  const known = standing ?? await standingOf(context, newest).catch(ignoreNotFound)
    ?? { state: 'canceled', asks: [] } as const
  // Unlike the task itself, a list has only what it is asked for.
  const detail = { historyLength: Math.min(historyLength ?? 0, historyMax),
    historyScope: historyScope ?? 'context', artifacts: includeArtifacts ?? false }
  const whole = detail.historyLength === 0 && !detail.artifacts
    ? newest
    : await context.runs.get(context.caller, { threadId: newest.threadId, runId: newest.runId })
  return await taskView(context, { first, newest: whole, ...known }, detail)
}

function stateIn(status: string | null | undefined): TaskState | undefined {
  if (status == null || status === '' || status === 'TASK_STATE_UNSPECIFIED') return undefined
  const state = stateNamed(status)
  if (state !== undefined) return state
  throw badField('status', `must be a state of tasks, as ${stateName('working', '1.0')}`)
}

function timeIn(text: string | null | undefined): number {
  if (text == null || text === '') return 0
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(ms)) return ms
  throw badField('statusTimestampAfter', 'must be an ISO 8601 time')
}

function placeIn(token: string | null | undefined): Place | undefined {
  if (token == null || token === '') return undefined
  const [ms, id] = cursorParts(token)
  if (typeof ms === 'number' && typeof id === 'string') return [ms, id]
  throw badField('pageToken', 'is not one of a list of tasks')
}
