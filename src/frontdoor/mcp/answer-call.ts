/** Answers a call of a tool with its result, as one JSON document or at the end of a stream. */

import type { FastifyReply } from 'fastify'

import type { JsonText } from '../../checkpoint/index.ts'
import { whileValid } from '../http/credential-check.ts'
import { whenClosed } from '../http/ending.ts'
import { answerLate } from '../http/late-answer.ts'
import { resultText } from '../json-rpc.ts'
import { isKept, isStreamed, membersOf } from './call.ts'
import type { McpParts, ToolCall } from './call.ts'
import { callOutcome } from './call-outcome.ts'
import { dropKept, keepOn, stateOf } from './kept-call.ts'
import type { CallRun } from './kept-call.ts'
import { errorText } from './message.ts'
import { MessageStream } from './message-stream.ts'
import { withProgress } from './progress.ts'
import { elicitationOf } from './questions/index.ts'
import type { Question } from './questions/index.ts'
import { asRpcError, RpcError } from './rpc-error.ts'
import { badResult, goodResult } from './tool-result.ts'
import type { AskingOutcome } from './tool-result.ts'

/** A call that is answered, and its run. */
export interface AnsweredCall {
  readonly reply: FastifyReply
  readonly call: ToolCall
  readonly run: CallRun
}

/** Answers a call of which the client gets one answer. Rejects while a status can be sent. */
export async function answerCall(parts: McpParts, answered: AnsweredCall): Promise<FastifyReply> {
  const { reply, call, run: { run } } = answered
  reply.request.about = run
  const end = endOf(parts, answered)
  if (isStreamed(call)) return streamAnswer(parts, answered, end)
  whenClosed(reply.raw, () => end.close())
  const { caller } = reply.request
  const { ticker, runs } = parts
  await answerLate({
    reply,
    ticker,
    runId: run.runId,
    headers: {},
    answer: (left) =>
      whileValid({ caller, ticker, left, ask: answered.run.result }).then((text) =>
        end.answer(text)
      ),
    settled: () => runs.get(caller, run),
    abandoned: () => end.abandon(),
    failed: (error) => errorText(call.id, asRpcError(error)),
  })
  return reply
}

/** The end of a call: its answer, and what is removed then. */
interface CallEnd {
  answer(text: JsonText): Promise<JsonText>
  /** The client has gone without the answer: nobody can come for it. */
  abandon(): void
  /** Nothing more is sent. */
  close(): void
}

function endOf(parts: McpParts, { reply, call, run: { run } }: AnsweredCall): CallEnd {
  const { caller } = reply.request
  let isOpen = false
  return {
    answer: async (text) => {
      const outcome = await callOutcome(parts, { caller, run, text })
      const members = membersOf(call, parts.version)
      if (outcome.kind === 'over') {
        const { failure } = outcome
        return resultText(call.id,
          failure === undefined ? goodResult(text, members) : badResult(failure, members))
      }
      if (!call.answersQuestions) return unanswerable(call, outcome.questions, members)
      await keepOn(parts, caller, run.threadId)
      isOpen = true
      return resultText(call.id,
        questionsText(outcome, stateOf(run), membersOf(call, parts.version, 'input_required')))
    },
    abandon: () => {
      if (isKept(call) || parts.ticker.stopped) return
      parts.runs.cancel(caller, run, { reason: 'disconnected' }).catch(() => {})
    },
    close: () => {
      if (isKept(call) && !isOpen) dropKept(parts, caller, run.threadId)
    },
  }
}

/** All questions at once, and the state with which the client comes back. */
function questionsText({ questions, failure }: AskingOutcome, requestState: string,
  members: Readonly<Record<string, unknown>>): JsonText {
  const inputRequests = Object.fromEntries(questions.map((question) => [question.id, {
    method: 'elicitation/create',
    params: { mode: 'form', ...elicitationOf(question, failure) },
  }]))
  return JSON.stringify({ inputRequests, requestState, ...members })
}

/** For a client that shows no forms. Throws RpcError where the revision has an error for that. */
function unanswerable({ id, era }: ToolCall, questions: readonly Question[],
  members: Readonly<Record<string, unknown>>): JsonText {
  const { message } = elicitationOf(questions[0]!)
  const text = `The graph asks its user, and this client cannot (elicitation): ${String(message)}`
  if (era === 'former') return resultText(id, badResult(text, members))
  throw new RpcError('missingCapability', text, { status: 400,
    data: { requiredCapabilities: { elicitation: { form: {} } } } })
}

/** Reports progress until the answer, which ends the stream. Its client cannot come back. */
async function streamAnswer({ ticker, ...parts }: McpParts, { reply, call, run }: AnsweredCall,
  end: CallEnd): Promise<FastifyReply> {
  const { caller } = reply.request
  const stream = new MessageStream(reply, {
    stillValid: caller.stillValid,
    // As other answers, it stays open until the deadline.
    leaving: () => {},
    closed: (wasWhole) => {
      ticker.remove(stream)
      if (!wasWhole) end.abandon()
      end.close()
    },
  })
  const report = { token: call.progressToken!, count: 0,
    send: (text: string) => stream.sendIfRead(text) }
  ticker.add(stream, { kind: 'sse', runId: run.run.runId })
  try {
    const text = await withProgress(parts, { caller, run: run.run, report }, () =>
      run.result(stream.left))
    stream.send(await end.answer(text))
    stream.end()
  } catch (error) {
    stream.send(errorText(call.id, asRpcError(error)))
    stream.end()
  }
  return reply
}
