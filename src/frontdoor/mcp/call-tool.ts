/** `tools/call`: a run of the assistant behind a tool, or what goes on with one. */

import type { FastifyReply } from 'fastify'

import { isObject, objectOf } from '../../json/index.ts'
import { RawJson } from '../../raw-json.ts'
import { requireAllowed } from '../http/caller.ts'
import { holdStream, waiterOf } from '../rest/run-reply.ts'
import { resultText } from '../json-rpc.ts'
import { answerCall } from './answer-call.ts'
import { nothingSeen, streamCall } from './asking-stream.ts'
import { isKept, isStreamed, membersOf } from './call.ts'
import type { McpParts, ToolCall } from './call.ts'
import { callRun, dropKept, findKept, readState, resumed, startCall } from './kept-call.ts'
import type { CallMaker } from './kept-call.ts'
import { isRequestId } from './message.ts'
import type { Json, Request, RequestId } from './message.ts'
import { answerIn } from './questions/index.ts'
import type { ClientAbilities, Era } from './revision.ts'
import { RpcError } from './rpc-error.ts'
import type { Session } from './session.ts'
import { assistantBehind } from './tools.ts'
import { badResult } from './tool-result.ts'

/** Rules by which a call is answered. */
export interface CallFrame extends ClientAbilities {
  readonly era: Era
  readonly session: Session | undefined
}

/** Carries out a call. Throws RpcError and HeddleError while a status can be sent. */
export async function callTool(parts: McpParts, reply: FastifyReply, { id, params }: Request,
  frame: CallFrame): Promise<FastifyReply> {
  const { caller } = reply.request
  requireAllowed(caller, 'change')
  const { name, requestState: state } = params
  if (typeof name !== 'string') throw new RpcError('invalidParams', 'A call must name its tool.')
  const input = inputOf(params)
  const context = contextOf(params)
  await caller.mayStartRun?.()
  holdStream(parts, reply)
  const assistant = await assistantBehind(parts.assistants, caller, name)
  const call: ToolCall = { ...frame, id, assistant, context, progressToken: tokenOf(params) }
  const maker = { caller, runCaller: { ...waiterOf(reply.request, reply), commandId: '' } }
  if (call.era === 'modern' && state !== undefined) {
    return resumeCall(parts, reply, maker, { call, state, responses: params['inputResponses'] })
  }
  const run = await startCall(parts, maker, call, input)
  const isAsking = call.era === 'former' && isKept(call) && isStreamed(call)
  return isAsking
    ? streamCall(parts, { reply, call, run, seen: nothingSeen })
    : answerCall(parts, { reply, call, run })
}

/** The arguments, as the graph gets them for its input. */
function inputOf({ arguments: input = {} }: Json): unknown {
  const isWhole = input instanceof RawJson
    ? input.text.trimStart().startsWith('{')
    : isObject(input)
  if (isWhole) return input
  throw new RpcError('invalidParams', 'The arguments must be an object.')
}

/** The context of the run, which is no part of the arguments, as of every other run. */
function contextOf({ context }: Json): Json | undefined {
  if (context == null) return undefined
  if (isObject(context)) return context
  throw new RpcError('invalidParams', 'The context must be an object.')
}

function tokenOf({ _meta: meta }: Json): RequestId | undefined {
  const { progressToken } = objectOf(meta)
  return isRequestId(progressToken) ? progressToken : undefined
}

/** Goes on with a call whose questions the client has answered. */
async function resumeCall(parts: McpParts, reply: FastifyReply, { caller, runCaller }: CallMaker,
  { call, state, responses }: { readonly call: ToolCall; readonly state: unknown;
    readonly responses: unknown }): Promise<FastifyReply> {
  const asked = readState(state)
  const kept = asked && await findKept(parts, caller, asked.threadId, '')
  if (kept === undefined || kept.assistant !== call.assistant) {
    throw new RpcError('invalidParams', 'This requestState is of no call that waits: call the ' +
      'tool again without it.')
  }
  const { threadId, row, questions } = kept
  // Questions of another run may have the same ids: what was answered before is asked anew.
  const given = asked!.runId === row.runId ? objectOf(responses) : {}
  const answers = questions.map((question) =>
    [question.id, answerIn(given[question.id], question)] as const
  )
  if (answers.some(([, { kind }]) => kind === 'refused')) {
    dropKept(parts, caller, threadId)
    return reply.type('application/json').send(resultText(call.id, badResult(
      'The question of the graph was not answered: the user declined.',
      membersOf(call, parts.version),
    )))
  }
  const values = Object.fromEntries(
    answers.flatMap(([id, answer]) => answer.kind === 'given' ? [[id, answer.value]] : []),
  )
  const run = Object.keys(values).length === 0
    // Nothing was answered: the same is asked again.
    ? { run: { threadId, runId: row.runId },
      result: (cancelled?: AbortSignal) =>
        parts.runs.join(caller, { threadId, runId: row.runId }, cancelled) }
    : callRun(
      await parts.runs.createAndWait(caller, threadId, {
        ...resumed({ ...kept, progressToken: call.progressToken }, values),
        ...call.context !== undefined && { context: call.context },
      }, { ...runCaller, answers: kept.answers }),
    )
  return answerCall(parts, { reply, call, run })
}
