/**
 * The thread of a call whose graph may ask, or whose client may come back.
 *
 * 1. It is that of a stateless run, and goes with the answer: a quick call leaves nothing on disk.
 *    It stays if the graph asks, or if the answer was not delivered, and then goes by itself after
 *    an hour.
 * 2. Its metadata says whose it is: of which tool, session and user. What a client sends about it
 *    names it, and is compared with that, so that nothing of it has to be signed or kept elsewhere.
 * 3. Every member can go on with it, for the thread has all that is needed.
 */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { ignoreNotFound } from '../../errors.ts'
import { isInterruptId } from '../../graph/index.ts'
import { objectIn } from '../../json/index.ts'
import { contextOf, openInterrupts, printOf } from '../../thread/index.ts'
import type { AwaitedRun } from '../../thread/index.ts'
import type { Caller } from '../http/caller.ts'
import { idOfRepeat, nameOf } from '../operations/index.ts'
import type { RunCaller, RunName } from '../operations/index.ts'
import { isKept, principalOf } from './call.ts'
import type { McpParts, ToolCall } from './call.ts'
import type { RequestId } from './message.ts'
import { questionsOf } from './questions/index.ts'
import type { Question } from './questions/index.ts'

/** Minutes for which the thread of a call waits for an answer, or for its client. */
const keptMinutes = 60

const timeToLive = { ttl: keptMinutes, strategy: 'delete' } as const

/** A run of a call, and its result. */
export interface CallRun {
  readonly run: RunName
  result(cancelled?: AbortSignal): Promise<string>
}

/** A caller, and how runs are made for it. */
export interface CallMaker {
  readonly caller: Caller
  readonly runCaller: RunCaller
}

/** A thread that was kept for a call. */
export interface KeptCall {
  readonly threadId: string
  readonly assistant: string
  readonly requestId: RequestId
  readonly progressToken: RequestId | undefined
  /** Its newest run. */
  readonly row: RunRow
  /** The interrupts with which the thread waits. */
  readonly questions: readonly Question[]
  /** Fingerprints of these interrupts. */
  readonly answers: readonly string[]
}

/** The id of what a request of a session makes, so that every member can cancel it. */
function idOfRequest({ tenant }: Caller, session: string, request: RequestId): string {
  return idOfRepeat(tenant, `mcp\n${session}\n${JSON.stringify(request)}`)
}

/** Starts the run of a call. In a session, its id can be made again to cancel it. */
export async function startCall({ runs }: Pick<McpParts, 'runs'>, { caller, runCaller }: CallMaker,
  call: ToolCall, input: unknown): Promise<CallRun> {
  const { assistant, session, id, context } = call
  const runId = session && idOfRequest(caller, session.id, id)
  return callRun(
    await runs.createStatelessAndWait(caller, { assistant_id: assistant, input, context,
      ...modesOf(call), ...isKept(call) && { metadata: marksOf(caller, call) } }, { ...runCaller,
      runId, ...isKept(call) && { keptMinutes } }),
  )
}

/** Metadata by which every member knows whose call a thread is. */
function marksOf(caller: Caller, { assistant, session, id, progressToken }: ToolCall) {
  return { mcp_tool: assistant, mcp_session: session?.id ?? '', mcp_user: principalOf(caller),
    mcp_request: id, ...progressToken !== undefined && { mcp_progress: progressToken } }
}

/** Modes of a run whose progress is reported. */
function modesOf({ progressToken }: Pick<ToolCall, 'progressToken'>) {
  return progressToken === undefined ? {} : { stream_mode: ['tasks-lean' as const] }
}

/** The run of a call that was started for it. */
export function callRun({ row, result }: AwaitedRun): CallRun {
  return { run: nameOf(row), result }
}

/**
 * The kept call of this thread. Undefined for a thread that is not there, or that this caller made
 * no call of this session on.
 */
export async function findKept({ threads, runs }: Pick<McpParts, 'threads' | 'runs'>,
  caller: Caller, threadId: string, session: string): Promise<KeptCall | undefined> {
  const view = await threads.get(caller, threadId, ['metadata']).catch(ignoreNotFound)
  if (view === undefined) return undefined
  const { mcp_tool: assistant, mcp_session, mcp_user, mcp_request: requestId,
    mcp_progress: progressToken } = objectIn(view.row.metadataJson || '{}')
  const isTheirs = mcp_session === session && mcp_user === principalOf(caller)
  const row = isTheirs ? await newestRun(runs, caller, threadId) : undefined
  if (row === undefined || typeof assistant !== 'string') return undefined
  const asked = openInterrupts(view.row)
  return { threadId, assistant, row, requestId: requestId as RequestId,
    progressToken: progressToken as RequestId | undefined, questions: questionsOf(asked),
    answers: asked.map(printOf) }
}

/** State with which a client comes back: the thread, and the run whose questions it answers. */
export function stateOf({ threadId, runId }: RunName): string {
  return `${threadId}.${runId}`
}

const stateForm =
  /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** Reads such a state; undefined for any other value. */
export function readState(state: unknown): RunName | undefined {
  const [, threadId, runId] = typeof state === 'string' ? stateForm.exec(state) ?? [] : []
  return threadId === undefined ? undefined : { threadId, runId: runId! }
}

/** The newest run of a thread; undefined if it has none, or is gone. */
export async function newestRun(runs: McpParts['runs'], caller: Caller,
  threadId: string): Promise<RunRow | undefined> {
  return await runs.newest(caller, threadId, 'threads:read').catch(ignoreNotFound)
}

/**
 * Returns the run that continues a kept call, with answers by interrupt id. It has the context of
 * the previous run, because a response in a session cannot contain a context.
 */
export function resumed({ assistant, progressToken, row }: KeptCall,
  answers: Readonly<Record<string, unknown>>) {
  const isById = Object.keys(answers).every(isInterruptId)
  return { assistant_id: assistant, strict_resume: true, multitask_strategy: 'reject' as const,
    command: { resume: isById ? answers : Object.values(answers)[0] }, context: contextOf(row),
    ...modesOf({ progressToken }) }
}

/** Gives the thread its full time again, when a question was asked. */
export async function keepOn({ threads }: McpParts, caller: Caller,
  threadId: string): Promise<void> {
  await threads.patch(caller, threadId, { ttl: timeToLive })
}

/** Removes what was kept, with its run. Failing is harmless: the thread goes by itself. */
export function dropKept({ threads }: Pick<McpParts, 'threads'>, caller: Caller,
  threadId: string): void {
  threads.discard(caller, threadId).catch(() => {})
}

/** Cancels what a request of a session has made. Nothing happens if it is over. */
export async function cancelRequest({ runs, threads }: McpParts, caller: Caller, session: string,
  request: RequestId): Promise<void> {
  const id = idOfRequest(caller, session, request)
  await runs.cancel(caller, { threadId: id, runId: id }, {}).catch(ignoreNotFound)
  // A run that goes on with an answer is cancelled with the thread.
  const kept = await findKept({ runs, threads }, caller, id, session)
  if (kept !== undefined) await threads.delete(caller, id).catch(ignoreNotFound)
}
