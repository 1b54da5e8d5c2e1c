/** Lines of JSON on one connection, one value a line, as they come. */

import type { OutgoingHttpHeaders } from 'node:http'

import type { FastifyReply } from 'fastify'

import { backlog } from '../http/backlog.ts'
import { Backpressure } from '../http/backpressure.ts'
import { openReplyHeaders } from '../http/connections/connection-ticker.ts'
import type { TickerMember } from '../http/connections/connection-ticker.ts'
import { breakOff, whenClosed } from '../http/ending.ts'

/** Options of a stream of lines: a check of its client, and a callback for its close. */
export interface LineStreamOptions {
  /** False if the client may not see lines any more. */
  stillValid(): boolean
  /** Called once. */
  closed(): void
}

/** Sends lines to one client. A clean end means that there are no more. */
export class LineStream implements TickerMember {
  readonly #reply: FastifyReply
  readonly #stillValid: () => boolean
  readonly #backpressure = new Backpressure()
  #full = false
  #fullTicks = 0
  #ended = false
  /** True when the headers have been sent. */
  begun = false

  constructor(reply: FastifyReply, { stillValid, closed }: LineStreamOptions) {
    this.#reply = reply
    this.#stillValid = stillValid
    reply.raw.on('drain', () => {
      this.#full = false
      this.#fullTicks = 0
      this.#backpressure.notify()
    })
    whenClosed(reply.raw, () => {
      this.#ended = true
      this.#backpressure.notify()
      closed()
    })
  }

  /** Sends the headers. */
  begin(): void {
    if (this.begun || this.#ended || this.#reply.raw.destroyed) return
    this.begun = true
    this.#reply.hijack()
    this.#reply.raw.writeHead(200, { ...this.#reply.getHeaders() as OutgoingHttpHeaders,
      'content-type': 'application/x-ndjson; charset=utf-8', ...openReplyHeaders })
    this.#reply.raw.flushHeaders()
  }

  /** Sends one value a line. Wait for `ready` before the next call. */
  send(values: readonly object[]): void {
    this.begin()
    if (this.#ended || values.length === 0) return
    const text = values.map((value) => `${JSON.stringify(value)}\n`).join('')
    this.#full = !this.#reply.raw.write(text)
  }

  ready(): Promise<void> | undefined {
    return this.#full && !this.#ended ? this.#backpressure.wait() : undefined
  }

  /** Ends it cleanly. */
  end(): void {
    if (this.#ended) return
    this.begin()
    this.#ended = true
    this.#reply.raw.end()
  }

  tick(): void {
    if (this.#ended) return
    if (!this.#stillValid() || this.#full && ++this.#fullTicks >= backlog.ticks) this.leave()
  }

  leave(): void {
    this.#ended = true
    breakOff(this.#reply.raw)
  }
}
