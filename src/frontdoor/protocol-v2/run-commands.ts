/** The commands that start runs: `run.start`, `input.respond` and `state.fork`. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { createRun } from '../../api/index.ts'
import type { CreateRun } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { isInterruptId } from '../../graph/index.ts'
import { isObject, objectIn } from '../../json/index.ts'
import { seqBefore } from '../../thread/index.ts'
import { requireAllowed } from '../http/caller.ts'
import { ForkState, RespondMany, RespondOne } from '../schema/protocol-v2.ts'
import { checkerOf } from '../schema/validation.ts'
import type { CommandContext } from './command-context.ts'
import { ProtocolError } from './envelope.ts'
import type { Outcome } from './envelope.ts'
import { membersOf } from './spelling.ts'

const runMembers = Object.keys(createRun.body.properties)
  .filter((name) => name !== 'if_not_exists' && name !== 'on_disconnect')
const answerMembers = ['namespace', 'interrupt_id', 'response']

const checkRun = checkerOf(createRun.body)
const checkOne = checkerOf(RespondOne)
const checkMany = checkerOf(RespondMany)
const checkFork = checkerOf(ForkState)

/**
 * Starts a run, and creates the thread if it is missing. If the thread waits at an interrupt, the
 * input is the answer, unless the run begins at a checkpoint or has a command.
 */
export async function startRun(context: CommandContext, params: unknown): Promise<Outcome> {
  requireAllowed(context.caller, 'change')
  await context.caller.mayStartRun?.()
  const body = checkRun({ ...membersOf(params, runMembers), if_not_exists: 'create' })
  const { runs, caller, threadId, runCaller } = context
  const answers = body.input != null && body.command == null && !isFork(body)
  const row = await runs.createForThread(caller, threadId, body, runCaller,
    answers ? { answersIfWaiting: true } : {}).catch(asInvalid)
  return started(row, `{"run_id":"${row.runId}"}`)
}

/** Answers one or more interrupts. Throws `no_such_interrupt` if none waits. */
export async function respond(context: CommandContext, params: unknown): Promise<Outcome> {
  requireAllowed(context.caller, 'change')
  await context.caller.mayStartRun?.()
  const answers = answersIn(params)
  const { caller, threadId, runs, runCaller } = context
  const options = membersOf(params, runMembers)
  const assistantId = await assistantOf(context, 'threads:update')
  requireIds(answers.map(({ interrupt_id }) => interrupt_id))
  const resume = Object.fromEntries(
    answers.map(({ interrupt_id, response = null }) => [interrupt_id, response]),
  )
  const { update, goto } = membersOf(params, ['update', 'goto'])
  const body = checkRun({ ...options, assistant_id: assistantId, input: null,
    command: { resume, ...update !== undefined && { update }, ...goto !== undefined && { goto } } })
  const row = await runs.createForThread(caller, threadId, body, runCaller, {
    resumeOnly: true,
  }).catch(asUnasked)
  return started(row, `{"run_id":"${row.runId}"}`)
}

/** Starts a run from a checkpoint, with the assistant of the run before. */
export async function fork(context: CommandContext, params: unknown): Promise<Outcome> {
  requireAllowed(context.caller, 'change')
  await context.caller.mayStartRun?.()
  const { checkpoint_id } = checkFork(
    membersOf(params, ['checkpoint_id', 'input', 'config', 'metadata']),
  )
  const { caller, threadId, runs, runCaller } = context
  const assistantId = await assistantOf(context, 'threads:read')
  await requireCheckpoint(context, checkpoint_id)
  const body = checkRun({ ...membersOf(params, runMembers), assistant_id: assistantId,
    checkpoint_id })
  const row = await runs.createForThread(caller, threadId, body, runCaller, {})
  return started(row, JSON.stringify({ run_id: row.runId, thread_id: threadId }))
}

function started(row: RunRow, result: string): Outcome {
  return { result, appliedThroughSeq: seqBefore(row) }
}

/** True if the run begins at a checkpoint that the client names. */
function isFork({ checkpoint, checkpoint_id, config }: CreateRun): boolean {
  const { configurable } = (config ?? {}) as { readonly configurable?: unknown }
  return checkpoint != null || checkpoint_id != null ||
    (isObject(configurable) && configurable['checkpoint_id'] != null)
}

interface Answer {
  readonly interrupt_id: string
  readonly response?: unknown
}

/** The answers, of one interrupt or of many. Checks the members beside them too. */
function answersIn(params: unknown): readonly Answer[] {
  const beside = membersOf(params, ['update', 'goto', 'config', 'metadata'])
  const { responses } = membersOf(params, ['responses'])
  if (responses === undefined) {
    return [checkOne({ ...beside, ...membersOf(params, answerMembers) })]
  }
  const many = Array.isArray(responses)
    ? responses.map((each: unknown) => isObject(each) ? membersOf(each, answerMembers) : each)
    : responses
  return checkMany({ ...beside, responses: many }).responses
}

/** Throws for a value that is not the id of an interrupt. The thread checks which ones wait. */
function requireIds(ids: readonly string[]): void {
  const unknown = ids.find((id) => !isInterruptId(id))
  if (unknown === undefined) return
  throw new ProtocolError('no_such_interrupt', `No interrupt ${unknown} waits for an answer.`)
}

/** Returns the assistant of the newest run. A copy without runs has the assistant of its source. */
async function assistantOf(context: CommandContext,
  event: 'threads:read' | 'threads:update'): Promise<string> {
  const { runs, threads, caller, threadId, left } = context
  const last = await runs.newest(caller, threadId, event, left)
  if (last) return last.assistantId
  const { row: { metadataJson } } = await threads.get(caller, threadId, ['metadata'])
  const { assistant_id: assistantId } = objectIn(metadataJson || '{}')
  if (typeof assistantId === 'string') return assistantId
  throw noRun(threadId)
}

/** The newest run of the thread. Throws `not_found` if the thread does not exist. */
export async function lastRun(
  { runs, caller, threadId, left }: CommandContext,
): Promise<RunRow> {
  const last = await runs.newest(caller, threadId, 'threads:read', left)
  if (last !== undefined) return last
  throw noRun(threadId)
}

function noRun(threadId: string): ProtocolError {
  return new ProtocolError('no_such_run',
    `Thread ${threadId} has no run yet: begin with run.start.`)
}

async function requireCheckpoint({ threads, caller, threadId, left }: CommandContext,
  checkpointId: string): Promise<void> {
  const at = { checkpoint_id: checkpointId }
  await threads.state(caller, threadId, at, { select: ['created_at'] }, left)
    .catch((error: unknown) => {
      const { code, message } = HeddleError.from(error)
      if (code !== 'not_found' && code !== 'invalid') throw error
      throw new ProtocolError('no_such_checkpoint', message, { cause: error })
    })
}

/** For a `catch`: here only what the params name can be missing, as the thread is made. */
function asInvalid(error: unknown): never {
  const { code, message } = HeddleError.from(error)
  if (code !== 'not_found') throw error
  throw new ProtocolError('invalid_argument', message, { cause: error })
}

/** For a `catch`: an answer without faults in its fields is refused because nothing waits. */
function asUnasked(error: unknown): never {
  const { code, message, details } = HeddleError.from(error)
  if (code !== 'invalid' || details.errors !== undefined) throw error
  throw new ProtocolError('no_such_interrupt', message, { cause: error })
}
