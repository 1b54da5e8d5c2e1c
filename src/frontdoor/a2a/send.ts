/**
 * Sends a message: as the input of a new run, which is a new task, or as the answer to the question
 * of a task that waits. A message that comes again, whole and unchanged, makes nothing new.
 */

import type { PushConfig } from '../../../proto/gen/storage/v1/push.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { createRun } from '../../api/index.ts'
import type { CreateRun } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { printOf } from '../../thread/index.ts'
import type { AwaitedRun } from '../../thread/index.ts'
import { requireAllowed, userOf } from '../http/caller.ts'
import { nameOf } from '../operations/index.ts'
import { checkerOf } from '../schema/validation.ts'
import { A2aError } from './a2a-error.ts'
import type { AgentContext } from './context.ts'
import { digestOf, idOfText, isListedUuid } from './ids.ts'
import { answerIn, humanMessage, mediaTypeOf, partsIn } from './message-in.ts'
import { badField } from './params.ts'
import type { SendParams } from './params.ts'
import { findTask, keys } from './task-runs.ts'
import type { Part } from './task.ts'

/**
 * The way in which the client learns of the task.
 *
 * waits    it gets the task when that has ended, or asks
 * follows  it gets the events of the task
 * leaves   it gets the task at once, and asks for it later
 */
export type Manner = 'waits' | 'follows' | 'leaves'

/** The run that a message made, the first run of its task, and its result if the client waits. */
export interface Sent {
  readonly first: RunRow
  readonly row: RunRow
  readonly result?: AwaitedRun['result']
}

/** A message to send. */
export interface Sending {
  readonly params: SendParams
  readonly manner: Manner
  /** Whom to notify of its task. */
  readonly push?: PushConfig | undefined
}

const checkRun = checkerOf(createRun.body)

/** Sends a message. Throws A2aError and HeddleError. */
export async function send(context: AgentContext, { params, manner, push }: Sending): Promise<
  Sent
> {
  const { caller, assistant } = context
  requireAllowed(caller, 'change')
  await caller.mayStartRun?.()
  const parts = partsIn(params.message.parts)
  requireTypes(parts, inputModes(assistant.metadataJson))
  const key = digestOf(
    JSON.stringify([caller.tenant, userOf(caller) ?? '', assistant.assistantId, params.message,
      params.metadata ?? null, ...params.context == null ? [] : [params.context]]),
  )
  const message: Outgoing = { params, parts, commandId: `a2a:${key}`, key, manner, push }
  // Clients of 1.0 may send an empty text for nothing.
  return (params.message.taskId ?? '') === '' ? begin(context, message) : answer(context, message)
}

/** A message on its way into the graph. */
interface Outgoing extends Sending {
  readonly parts: readonly Part[]
  readonly key: string
  readonly commandId: string
}

async function begin(context: AgentContext, outgoing: Outgoing): Promise<Sent> {
  const { runs, caller } = context
  const { params: { message: { messageId, contextId } }, parts, manner, key } = outgoing
  if (contextId && !isListedUuid(contextId)) {
    throw badField('message.contextId', 'must be a UUID: leave it out to begin a new context')
  }
  const threadId = contextId?.toLowerCase() || idOfText(key)
  const body = runBody(context, outgoing, { [keys.message]: messageId }, {
    input: { messages: [humanMessage(messageId, parts)] },
    if_not_exists: 'create',
  })
  const runCaller = { ...context.runCaller, commandId: outgoing.commandId, push: outgoing.push }
  if (manner === 'waits') {
    const { row, result } = await runs.createAndWait(caller, threadId, body, { ...runCaller,
      awaits: true })
    return { first: row, row, result }
  }
  const row = await runs.create(caller, threadId, body, { ...runCaller,
    ...manner === 'follows' && { follows: true } })
  return { first: row, row }
}

async function answer(context: AgentContext, outgoing: Outgoing): Promise<Sent> {
  const { runs, caller } = context
  const { params: { message: { messageId, taskId, contextId } }, parts, commandId } = outgoing
  const { first, newest, state, asks } = await findTask(context, taskId!)
  const { runId, threadId } = first
  if (contextId && contextId.toLowerCase() !== threadId) {
    throw badField('message.contextId', 'is not the context of the task')
  }
  const isRepeated = newest.commandId === commandId
  if (isRepeated) return withResult(context, { first, row: newest })
  if (state !== 'input-required') throw notAsked(runId, state)
  const body = runBody(context, outgoing, { [keys.task]: runId, [keys.message]: messageId }, {
    input: null,
    command: { resume: answerIn(parts) },
  })
  const row = await runs.createForThread(caller, threadId, body, { ...context.runCaller, commandId,
    task: runId, push: outgoing.push, answers: asks.map(printOf) }, { resumeOnly: true })
    .catch((error: unknown) => {
      const { code, details } = HeddleError.from(error)
      throw code === 'invalid' && details.errors === undefined ? notAsked(runId, state) : error
    })
  return withResult(context, { first, row })
}

function withResult({ runs, caller }: AgentContext, sent: Sent): Sent {
  return { ...sent, result: (cancelled) => runs.join(caller, nameOf(sent.row), cancelled) }
}

function notAsked(taskId: string, state: string): A2aError {
  return new A2aError('unsupported_operation', `The task is ${state} and takes no message: send ` +
    'it with contextId and without taskId, which makes a new task in the same context.', {
    about: { taskId, state },
  })
}

/** Events of a task that a client may come back for are kept. */
function runBody({ assistant: { assistantId } }: AgentContext, { params, manner }: Outgoing,
  marks: Readonly<Record<string, string>>, content: Partial<CreateRun>): CreateRun {
  return checkRun({
    assistant_id: assistantId,
    metadata: { ...params.metadata, ...marks },
    ...params.context != null && { context: params.context },
    ...content,
    ...manner !== 'waits' &&
      { stream_mode: ['values', 'messages-tuple'], stream_resumable: true },
  })
}

/** Media types that an assistant says it takes; undefined for any. */
function inputModes(metadataJson: string): readonly string[] | undefined {
  const { a2a } = JSON.parse(metadataJson || '{}') as { readonly a2a?: unknown }
  const modes = (a2a as { readonly input_modes?: unknown } | null | undefined)?.input_modes
  if (!Array.isArray(modes)) return undefined
  return modes.filter((each) => typeof each === 'string')
}

/** Throws A2aError for a part of a type that the assistant does not take. */
function requireTypes(parts: readonly Part[], modes: readonly string[] | undefined): void {
  if (modes === undefined || modes.length === 0) return
  for (const [index, part] of parts.entries()) {
    const type = mediaTypeOf(part).toLowerCase()
    if (modes.some((mode) => fits(mode.toLowerCase(), type))) continue
    throw new A2aError('content_type_not_supported',
      `Content type not supported: message.parts.${index} is ${type.slice(0, 100)}, and this ` +
        `agent takes ${modes.join(', ')}.`, { about: { mediaType: type.slice(0, 100) } })
  }
}

function fits(mode: string, type: string): boolean {
  if (mode === '*/*' || mode === '*') return true
  return mode.endsWith('/*') ? type.startsWith(mode.slice(0, -1)) : mode === type
}
