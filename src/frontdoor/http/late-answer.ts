/**
 * An answer that may take as long as a run takes.
 *
 * A quick answer is a plain reply. For others the headers are sent early, and then line breaks,
 * which JSON allows before a value. They show that the connection is alive.
 */

import type { OutgoingHttpHeaders } from 'node:http'

import type { FastifyReply } from 'fastify'

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { openReplyHeaders, ticksOfSilence } from './connections/connection-ticker.ts'
import type { ConnectionTicker, TickerMember } from './connections/connection-ticker.ts'
import { breakOff, whenClosed } from './ending.ts'

/** Ticks after which the headers are sent early. */
const graceTicks = 2

/** A reply that may take as long as its run, and the functions that make it. */
export interface LateAnswerOptions {
  readonly reply: FastifyReply
  readonly ticker: ConnectionTicker
  readonly runId: string
  /** Headers of an answer. An error with a status of its own has none of them. */
  readonly headers: Readonly<Record<string, string>>
  /** Makes the answer. `left` aborts when the client leaves. */
  answer(left: AbortSignal): Promise<JsonText>
  /** Resolves when the run that the headers name is on disk. */
  settled(): Promise<unknown>
  /** Called if the client leaves before it has the answer. */
  abandoned(): void
  /**
   * The body for an error after the headers; undefined to break off, so that the client sees a
   * failure. By default, errors that a retry may help are broken off.
   */
  failed?(error: unknown): JsonText | undefined
}

/** Sends the answer. Rejects as `answer` does, as long as a status can still be sent. */
export async function answerLate(options: LateAnswerOptions): Promise<void> {
  const { ticker, runId, answer } = options
  const waiting = new WaitingReply(options)
  ticker.add(waiting, { kind: 'wait', runId })
  try {
    waiting.succeed(await answer(waiting.left))
  } catch (error) {
    if (!waiting.begun && !waiting.gone) throw error
    waiting.fail(error)
  } finally {
    ticker.remove(waiting)
    waiting.answered = true
  }
}

function failedRun(error: unknown): JsonText | undefined {
  const { retry, code, message } = HeddleError.from(error)
  if (retry !== 'no') return undefined
  return JSON.stringify({ __error__: { error: code, message } })
}

class WaitingReply implements TickerMember {
  readonly #reply: FastifyReply
  readonly #headers: Readonly<Record<string, string>>
  readonly #settled: () => Promise<unknown>
  readonly #failed: NonNullable<LateAnswerOptions['failed']>
  readonly #left = new AbortController()
  #ticks = 0
  /** True when the client left or was cut off. */
  gone = false
  /** True when the headers have been sent. */
  begun = false
  /** True when the answer is there, or has failed. */
  answered = false

  constructor({ reply, headers, settled, abandoned, failed = failedRun }: LateAnswerOptions) {
    this.#reply = reply
    this.#headers = headers
    this.#settled = settled
    this.#failed = failed
    whenClosed(reply.raw, () => {
      const byClient = !this.gone && !reply.raw.writableEnded
      this.gone = true
      if (!this.answered) this.#left.abort()
      if (byClient) abandoned()
    })
  }

  get left(): AbortSignal {
    return this.#left.signal
  }

  tick(): void {
    const ticks = ++this.#ticks
    if (this.gone || ticks < graceTicks) return
    // If the thread cannot be asked now, it is asked again at a later tick.
    const later = () => {
      this.#ticks = 0
    }
    if (ticks === graceTicks) this.#settled().then(() => this.#begin(), later)
    else if (this.begun && (ticks - graceTicks) % ticksOfSilence === 0) this.#reply.raw.write('\n')
  }

  /**
   * Stays open until the deadline. A client that is cut off would start the run again or give up.
   */
  leave(): void {}

  succeed(text: JsonText): void {
    if (!this.begun) void this.#reply.headers(this.#headers).type('application/json').send(text)
    else if (!this.gone) {
      const { raw, server, request } = this.#reply
      server.unread.hold(raw, text, request.caller.tenant)
      this.#reply.raw.end(text)
    }
  }

  /** Sends the error in the body, or breaks off. */
  fail(error: unknown): void {
    if (this.gone) return void (this.begun || this.#reply.hijack())
    const { raw } = this.#reply
    const text = this.#failed(error)
    if (text !== undefined) return void raw.end(text)
    this.gone = true
    breakOff(raw)
  }

  #begin(): void {
    if (this.gone || this.answered) return
    this.begun = true
    this.#reply.hijack()
    this.#reply.raw.writeHead(200, {
      ...this.#reply.getHeaders() as OutgoingHttpHeaders,
      ...this.#headers,
      ...openReplyHeaders,
      'content-type': 'application/json; charset=utf-8',
    })
    this.#reply.raw.write('\n')
  }
}
