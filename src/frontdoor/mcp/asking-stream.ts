/**
 * The stream of a call in a session: progress, questions to the user of the client, the answer.
 *
 * 1. A question goes out as a request whose id names the thread and the question. The answer comes
 *    by a request of its own, to any member, which starts the next run of the thread.
 * 2. This stream follows the thread, and so finds that run.
 * 3. Each event has an id that names the thread. A client that lost the stream comes back with it,
 *    to any member: it gets the question that waits, and the answer.
 */

import type { FastifyReply } from 'fastify'

import { HeddleError } from '../../errors.ts'
import type { Caller } from '../http/caller.ts'
import type { RunName } from '../operations/index.ts'
import { resultText } from '../json-rpc.ts'
import type { McpParts, ToolCall } from './call.ts'
import { callOutcome } from './call-outcome.ts'
import { dropKept, keepOn } from './kept-call.ts'
import type { CallRun, KeptCall } from './kept-call.ts'
import { errorText } from './message.ts'
import type { RequestId } from './message.ts'
import { MessageStream } from './message-stream.ts'
import { nextRun } from './next-run.ts'
import { withProgress } from './progress.ts'
import type { ProgressReport } from './progress.ts'
import { elicitationOf } from './questions/index.ts'
import type { Question } from './questions/index.ts'
import { asRpcError } from './rpc-error.ts'
import { badResult, goodResult } from './tool-result.ts'

/** Start of a stream: the run under way, and what the client has seen before. */
export interface StreamedCall {
  readonly reply: FastifyReply
  readonly call: Pick<ToolCall, 'id' | 'progressToken'>
  readonly run: CallRun
  readonly seen: SeenEvents
}

/** Part of a call that its client has seen. */
export interface SeenEvents {
  readonly progress: number
  /** The question that it got last; empty if there was none. */
  readonly question: string
}

/** Nothing was sent yet. */
export const nothingSeen: SeenEvents = { progress: 0, question: '' }

const eventForm = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,9})\.([\w-]{0,200})$/

/** Reads the id of an event; undefined for one that is not of a call. */
export function readEventId(id: string): SeenEvents & { threadId: string } | undefined {
  const [, threadId, progress, question] = eventForm.exec(id) ?? []
  return threadId === undefined
    ? undefined
    : { threadId, progress: Number(progress), question: question! }
}

/** Name of a question on its thread. Early engines give one id to all questions of a task. */
function markOf({ runId }: Pick<RunName, 'runId'>, { id }: Pick<Question, 'id'>): string {
  return `${runId.slice(-12)}-${id}`
}

/** The request to the client that a message answers; undefined for one that is no question. */
export function readQuestionId(
  id: RequestId,
): { readonly threadId: string; readonly mark: string } | undefined {
  const [, threadId, mark] = /^([0-9a-f-]{36})\/(.{1,200})$/.exec(String(id)) ?? []
  return threadId === undefined ? undefined : { threadId, mark: mark! }
}

/** The open interrupt of a call that has this name; undefined if none has it. */
export function questionMarked(mark: string,
  { row, questions }: Pick<KeptCall, 'row' | 'questions'>): Question | undefined {
  return questions.find((question) => markOf(row, question) === mark)
}

/** Streams a call until it is answered, or its client has gone. */
export async function streamCall(parts: McpParts, streamed: StreamedCall): Promise<FastifyReply> {
  const { reply, run: { run } } = streamed
  reply.request.about = run
  const { caller } = reply.request
  const { ticker } = parts
  const stream: MessageStream = new MessageStream(reply, {
    stillValid: caller.stillValid,
    leaving: () => stream.cut(),
    closed: (wasWhole) => {
      ticker.remove(stream)
      // Without the answer, the client may come back for it.
      if (wasWhole) dropKept(parts, caller, run.threadId)
    },
  })
  ticker.add(stream, { kind: 'sse', runId: run.runId })
  try {
    await new Conversation(parts, streamed, stream).hold()
    stream.end()
  } catch (error) {
    // Its client comes back, and is answered by another member or later.
    if (stream.left.aborted || HeddleError.from(error).retry !== 'no') stream.cut()
    else {
      stream.send(errorText(streamed.call.id, asRpcError(error)))
      stream.end()
    }
  }
  return reply
}

class Conversation {
  readonly #parts: McpParts
  readonly #call: StreamedCall['call']
  readonly #stream: MessageStream
  readonly #caller: Caller
  readonly #report: ProgressReport | undefined
  #current: CallRun
  #asked: string

  constructor(parts: McpParts, { reply, call, run, seen }: StreamedCall, stream: MessageStream) {
    this.#parts = parts
    this.#call = call
    this.#stream = stream
    this.#caller = reply.request.caller
    this.#current = run
    this.#asked = seen.question
    const { progressToken: token } = call
    this.#report = token === undefined
      ? undefined
      : { token, count: seen.progress, send: (text) => stream.sendIfRead(text, this.#eventId()) }
  }

  /** Sends everything up to the answer. */
  async hold(): Promise<void> {
    this.#stream.prime(this.#eventId())
    for (;;) {
      const text = await this.#result()
      const outcome = await callOutcome(this.#parts, { caller: this.#caller, text,
        run: this.#current.run })
      if (outcome.kind === 'over') {
        const { failure } = outcome
        return this.#answer(failure === undefined ? goodResult(text, {}) : badResult(failure, {}))
      }
      const next = await this.#ask(outcome.questions[0]!, outcome.failure)
      if (next === undefined) {
        return this.#answer(badResult('The question of the graph was not answered: the user ' +
          'declined, or the call was cancelled.', {}))
      }
      this.#current = next
    }
  }

  async #result(): Promise<string> {
    const { run, result } = this.#current
    const report = this.#report
    const found = () => result(this.#stream.left)
    return report === undefined
      ? await found()
      : await withProgress(this.#parts, { caller: this.#caller, run, report }, found)
  }

  /** Asks, unless the client has this question already. Resolves with the run of the answer. */
  async #ask(question: Question, failure?: string): Promise<CallRun | undefined> {
    const { run } = this.#current
    const { left } = this.#stream
    using next = await nextRun(this.#parts, this.#caller, run, left)
    const mark = markOf(run, question)
    if (mark !== this.#asked) {
      await keepOn(this.#parts, this.#caller, run.threadId)
      this.#asked = mark
      this.#stream.send(
        JSON.stringify({ jsonrpc: '2.0', id: `${run.threadId}/${mark}`,
          method: 'elicitation/create', params: elicitationOf(question, failure) }),
        this.#eventId(),
      )
    }
    const found = await next.found
    return found &&
      { run: found, result: (cancelled) => this.#parts.runs.join(this.#caller, found, cancelled) }
  }

  #answer(result: string): void {
    this.#stream.send(resultText(this.#call.id, result), this.#eventId())
  }

  #eventId(): string {
    const { run: { threadId } } = this.#current
    return `${threadId}.${this.#report?.count ?? 0}.${this.#asked}`
  }
}
