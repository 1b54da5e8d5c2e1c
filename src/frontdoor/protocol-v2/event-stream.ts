/**
 * The events of a thread on one connection, as server-sent events. It ends only by being broken
 * off, so that the client comes back: a clean end would say that there is nothing more.
 */

import type { OutgoingHttpHeaders } from 'node:http'

import type { FastifyReply } from 'fastify'

import type { ThreadEvent, ThreadEventListener } from '../../thread/index.ts'
import { ticksOfSilence } from '../http/connections/connection-ticker.ts'
import type { TickerMember } from '../http/connections/connection-ticker.ts'
import { eventStreamHeaders, heartbeat } from '../http/connections/server-sent.ts'
import { breakOff, whenClosed } from '../http/ending.ts'
import type { EventTest } from './event-filter.ts'
import type { EventReader } from './event-reader.ts'
import { eventFrame } from './event-text.ts'
import { Outlet } from './outlet.ts'
import type { Sink } from './outlet.ts'

/** Options of one request for its stream, and the callback for its close. */
export interface EventStreamOptions {
  readonly passes: EventTest
  readonly reader: EventReader
  /** False if the client may not see events any more. It is cut off, comes back and is refused. */
  stillValid(): boolean
  closed(): void
}

/** Sends events of one thread to one client. Follows the thread, and ticks with all streams. */
export class EventStream implements ThreadEventListener, TickerMember, Sink {
  readonly #reply: FastifyReply
  readonly #options: EventStreamOptions
  readonly #outlet: Outlet
  #silentTicks = 0
  /** True when the headers have been sent. Until then the reply may still become an error. */
  begun = false

  constructor(reply: FastifyReply, options: EventStreamOptions) {
    this.#reply = reply
    this.#options = options
    this.#outlet = new Outlet(this)
    reply.raw.on('drain', () => this.#outlet.drained())
    whenClosed(reply.raw, () => {
      this.#outlet.close()
      options.closed()
    })
  }

  /** Sends the headers, unless an event has done so. */
  begin(): void {
    if (this.begun || this.#reply.raw.destroyed) return
    this.#writeHead()
    this.#reply.raw.flushHeaders()
  }

  events(batch: readonly ThreadEvent[]): void {
    const { passes, reader } = this.#options
    this.#outlet.send(reader.shown(batch).filter(passes).map(eventFrame))
  }

  ready(): Promise<void> | undefined {
    return this.#outlet.ready()
  }

  ended(): void {
    this.leave()
  }

  tick(): void {
    if (!this.#options.stillValid()) return this.leave()
    this.#outlet.tick()
    if (!this.begun || this.#outlet.full) return
    if (++this.#silentTicks >= ticksOfSilence) this.write([heartbeat])
  }

  leave(): void {
    this.begin()
    breakOff(this.#reply.raw)
  }

  write(frames: readonly string[]): boolean {
    if (this.#reply.raw.destroyed) return true
    if (!this.begun) this.#writeHead()
    this.#silentTicks = 0
    return this.#reply.raw.write(frames.join(''))
  }

  cut(): void {
    this.leave()
  }

  #writeHead(): void {
    this.begun = true
    this.#reply.hijack()
    this.#reply.raw.writeHead(200, {
      ...this.#reply.getHeaders() as OutgoingHttpHeaders,
      ...eventStreamHeaders,
    })
  }
}
