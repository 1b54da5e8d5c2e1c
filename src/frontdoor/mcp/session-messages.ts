/** Messages of a session that no answer follows: answers to questions, and cancellations. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'
import { requireAllowed } from '../http/caller.ts'
import { runCallerOf } from '../rest/run-reply.ts'
import { questionMarked, readEventId, readQuestionId, streamCall } from './asking-stream.ts'
import type { McpParts } from './call.ts'
import { cancelRequest, dropKept, findKept, resumed } from './kept-call.ts'
import { isRequestId } from './message.ts'
import type { Message } from './message.ts'
import { answerIn } from './questions/index.ts'
import { RpcError } from './rpc-error.ts'
import type { Session } from './session.ts'

/** Takes a message. What is about nothing that is there has no effect, as the protocol wants it. */
export async function takeMessage(parts: McpParts, request: FastifyRequest,
  message: Exclude<Message, { readonly kind: 'request' }>,
  session: Session | undefined): Promise<void> {
  if (session === undefined) return
  const { caller } = request
  if (message.kind === 'answer') return takeAnswer(parts, request, message, session)
  const { requestId } = message.params
  if (message.method !== 'notifications/cancelled' || !isRequestId(requestId)) return
  requireAllowed(caller, 'change')
  await cancelRequest(parts, caller, session.id, requestId)
}

/** Starts the run that goes on with the answer. The stream of the call finds it. */
async function takeAnswer(parts: McpParts, request: FastifyRequest,
  { id, result }: Extract<Message, { readonly kind: 'answer' }>, session: Session): Promise<void> {
  const { caller } = request
  const named = readQuestionId(id)
  const kept = named && await findKept(parts, caller, named.threadId, session.id)
  const question = kept && questionMarked(named.mark, kept)
  if (question === undefined) return
  requireAllowed(caller, 'change')
  const answer = answerIn(result, question)
  // A client that failed to ask has no other answer.
  if (answer.kind !== 'given') return dropKept(parts, caller, kept!.threadId)
  await caller.mayStartRun?.()
  const { threadId } = kept!
  const runCaller = { ...runCallerOf(request), commandId: '', answers: kept!.answers }
  await parts.runs.create(caller, threadId, resumed(kept!, { [question.id]: answer.value }),
    runCaller).catch(unlessBusy)
}

/** The question was answered meanwhile. */
function unlessBusy(error: unknown): void {
  if (HeddleError.from(error).code !== 'rejected') throw error
}

/** Streams what is left of a call, for a client that lost its stream. Throws RpcError. */
export async function resumeStream(parts: McpParts, reply: FastifyReply, lastEventId: string,
  session: Session): Promise<FastifyReply> {
  const { caller } = reply.request
  const seen = readEventId(lastEventId)
  const kept = seen && await findKept(parts, caller, seen.threadId, session.id)
  if (kept === undefined) {
    throw new RpcError('refused', 'Nothing is left of this call: it is over, or it has waited ' +
      'for too long.', { status: 404 })
  }
  const { threadId, row: { runId }, requestId: id, progressToken } = kept
  const run = { threadId, runId }
  return streamCall(parts, { reply, seen: seen!, call: { id, progressToken },
    run: { run, result: (cancelled) => parts.runs.join(caller, run, cancelled) } })
}

/** Threads of a session that are removed at a time. */
const pageThreads = 100

/** Removes what the calls of a session have left, with the runs that go on with an answer. */
export async function endSession({ threads }: McpParts, request: FastifyRequest,
  session: Session): Promise<void> {
  const { caller } = request
  const share = request.server.reads.share(caller.tenant)
  try {
    const { threads: found } = await threads.search(caller, { metadata: { mcp_session: session.id },
      limit: pageThreads, select: ['thread_id'] }, { share })
    await Promise.all(found.map(({ row }) => threads.delete(caller, row.threadId).catch(() => {})))
  } finally {
    share[Symbol.dispose]()
  }
}
