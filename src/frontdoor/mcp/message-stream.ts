/**
 * Messages to one client on one connection, as server-sent events, with heartbeats between them.
 *
 * A message that may be left out, as progress is, is left out while the client does not read. All
 * others wait for it, for as long as answers do.
 */

import type { OutgoingHttpHeaders } from 'node:http'

import type { FastifyReply } from 'fastify'

import type { JsonText } from '../../checkpoint/index.ts'
import { ticksOfSilence } from '../http/connections/connection-ticker.ts'
import type { TickerMember } from '../http/connections/connection-ticker.ts'
import { eventStreamHeaders, heartbeat } from '../http/connections/server-sent.ts'
import { breakOff, whenClosed } from '../http/ending.ts'

/** Options of a stream. */
export interface MessageStreamOptions {
  /** False if the client may not see messages any more: it is cut off. */
  stillValid(): boolean
  /** Called when the server closes. */
  leaving(): void
  /** Called once. `wasWhole` is true if the client got all that was sent. */
  closed(wasWhole: boolean): void
}

/** Sends messages to one client. Ticks with all open replies. */
export class MessageStream implements TickerMember {
  readonly #reply: FastifyReply
  readonly #options: MessageStreamOptions
  #silentTicks = 0
  #full = false
  #ended = false
  /** Aborts when nobody reads any more. */
  readonly #left = new AbortController()

  constructor(reply: FastifyReply, options: MessageStreamOptions) {
    this.#reply = reply
    this.#options = options
    const { raw } = reply
    raw.on('drain', () => {
      this.#full = false
    })
    whenClosed(raw, () => {
      const wasWhole = this.#ended && raw.writableFinished
      this.#ended = true
      this.#left.abort()
      options.closed(wasWhole)
    })
    reply.hijack()
    raw.writeHead(200, {
      ...reply.getHeaders() as OutgoingHttpHeaders,
      ...eventStreamHeaders,
    })
    raw.flushHeaders()
  }

  /** Aborts when the client has gone. */
  get left(): AbortSignal {
    return this.#left.signal
  }

  /** Sends a message. With an id, a client that comes back goes on behind it. */
  send(message: JsonText, id?: string): void {
    if (this.#ended) return
    const { raw, server, request } = this.#reply
    server.unread.hold(raw, message, request.caller.tenant)
    this.#write(`event: message\n${id === undefined ? '' : `id: ${id}\n`}data: ${message}\n\n`)
  }

  /** Sends a message, unless the client does not read. */
  sendIfRead(message: JsonText, id?: string): void {
    if (!this.#full) this.send(message, id)
  }

  /** Sends an id alone, so that a client which sees nothing more can come back. */
  prime(id: string): void {
    if (!this.#ended) this.#write(`id: ${id}\ndata: \n\n`)
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#reply.raw.end()
  }

  /** Ends without an answer, so that the client sees a failure. */
  cut(): void {
    if (this.#reply.raw.writableFinished) return
    breakOff(this.#reply.raw)
  }

  tick(): void {
    if (this.#ended) return
    if (!this.#options.stillValid()) return this.cut()
    if (!this.#full && ++this.#silentTicks >= ticksOfSilence) this.#write(heartbeat)
  }

  leave(): void {
    this.#options.leaving()
  }

  #write(text: string): void {
    if (this.#reply.raw.destroyed) return
    this.#silentTicks = 0
    this.#full = !this.#reply.raw.write(text)
  }
}
