/**
 * The events of one run on one connection, as server-sent events. This frames the events of the
 * feed, sends heartbeats, and handles slow readers. A client that reads nothing slows a run down by
 * two seconds at most.
 *
 * S1  All events of one call leave in one write.
 * S2  A clean end means that the run has ended. The event `end` leaves with it. In any other case
 *     the connection is broken off, so that the client comes back with the last id that it saw.
 * S3  While the socket is full, events wait here up to a limit. Beyond the limit, S2 applies. Past
 *     events, which are read from the log, wait for the socket. So does bulk output of a graph, for
 *     a moment.
 */

import type { OutgoingHttpHeaders } from 'node:http'

import type { FastifyReply } from 'fastify'

import type { FeedEnd, FeedEvent, FeedListener } from '../../thread/index.ts'
import { backlog } from '../http/backlog.ts'
import { Backpressure } from '../http/backpressure.ts'
import { ticksOfSilence } from '../http/connections/connection-ticker.ts'
import type { TickerMember } from '../http/connections/connection-ticker.ts'
import { eventStreamHeaders, heartbeat } from '../http/connections/server-sent.ts'
import { breakOff, whenClosed } from '../http/ending.ts'

/** The frame of one event. Its data has no line break. */
function frame({ name, json, id }: FeedEvent): string {
  return `event: ${name}\ndata: ${json}\nid: ${id}\n\n`
}

/** Options of one request for its stream, and the callback for its close. */
export interface SseOptions {
  /** Headers that are sent if the reply becomes a stream. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * True if this request made the run. Its client always gets the headers, as they name the run.
   */
  readonly made: boolean
  /**
   * Gives the data of the event `feedback`, when the run has ended without an error; undefined for
   * no event. By default there is none.
   */
  readonly feedback?: (() => Promise<string | undefined>) | undefined
  /** False to leave the event `end` out; it is sent by default. */
  readonly hasEnd?: boolean | undefined
  /** False if the client may not see events any more. It is cut off, comes back and is refused. */
  stillValid(): boolean
  /**
   * Called once. `byClient` is true if the client left before the end, and we did not break off.
   */
  closed(byClient: boolean): void
}

/** Sends the events of one run to one client. Follows the feed, and ticks with all open replies. */
export class SseStream implements FeedListener, TickerMember {
  readonly #reply: FastifyReply
  readonly #headers: Readonly<Record<string, string>>
  readonly #made: boolean
  readonly #feedback: SseOptions['feedback']
  readonly #hasEnd: boolean
  #hasFailed = false
  readonly #stillValid: () => boolean
  #silentTicks = 0
  /** True while the socket takes no more. */
  #full = false
  #fullTicks = 0
  /** True when no more events are sent. */
  #ended = false
  /** Resolves when the socket has drained or was destroyed. */
  readonly #backpressure = new Backpressure()
  /** The frame of the event `end`, which is sent with the end of the reply. */
  #last = ''
  #waiting: string[] = []
  #waitingCharacters = 0
  #waitingEvents = 0
  /** True when the headers have been sent. Until then the reply may still become an error. */
  begun = false

  constructor(reply: FastifyReply,
    { headers, made, feedback, hasEnd = true, stillValid, closed }: SseOptions) {
    this.#reply = reply
    this.#headers = headers
    this.#made = made
    this.#feedback = feedback
    this.#hasEnd = hasEnd
    this.#stillValid = stillValid
    reply.raw.on('drain', () => this.#drain())
    whenClosed(reply.raw, () => {
      const byClient = !this.#ended && !reply.raw.writableEnded
      this.#ended = true
      this.#backpressure.notify()
      closed(byClient)
    })
  }

  /** Sends the headers, unless an event has done so. */
  begin(): void {
    if (this.begun || this.#ended || this.#reply.raw.destroyed) return
    this.#writeHead()
    this.#reply.raw.flushHeaders()
  }

  events(batch: readonly FeedEvent[]): void {
    if (this.#ended) return
    let text = ''
    for (const event of batch) {
      this.#hasFailed ||= event.name === 'error'
      if (event.name === 'end') this.#last = this.#hasEnd ? frame(event) : ''
      else text += frame(event)
    }
    if (text === '') return
    if (!this.#full) return this.#write(text)
    if (this.#waitingEvents >= backlog.events) return this.leave()
    if (this.#waitingCharacters >= backlog.characters) return this.leave()
    this.#waiting.push(text)
    this.#waitingEvents += batch.length
    this.#waitingCharacters += text.length
  }

  ready(): Promise<void> | undefined {
    if (!this.#full || this.#ended) return undefined
    return this.#backpressure.wait()
  }

  ended(how: FeedEnd): void {
    if (this.#ended) return
    this.begin()
    if (how !== 'over') return this.leave()
    this.#ended = true
    if (this.#feedback === undefined || this.#hasFailed) return this.#end()
    void this.#feedback().then((json) => {
      // Without an id: a client that comes back asks for what follows an event of the run.
      this.#end(json === undefined ? '' : `event: feedback\ndata: ${json}\n\n`)
    })
  }

  #end(feedback = ''): void {
    this.#reply.raw.end(this.#takeWaiting() + feedback + this.#last)
  }

  tick(): void {
    if (this.#ended) return
    if (!this.#stillValid()) return this.leave()
    if (this.#full && ++this.#fullTicks >= backlog.ticks) return this.leave()
    if (!this.begun || this.#full) return
    if (++this.#silentTicks >= ticksOfSilence) this.#write(heartbeat)
  }

  leave(): void {
    if (this.#made) this.begin()
    this.#ended = true
    breakOff(this.#reply.raw)
  }

  #write(text: string): void {
    if (this.#reply.raw.destroyed) return
    if (!this.begun) this.#writeHead()
    this.#silentTicks = 0
    this.#full = !this.#reply.raw.write(text)
  }

  #writeHead(): void {
    this.begun = true
    this.#reply.hijack()
    this.#reply.raw.writeHead(200, {
      ...this.#reply.getHeaders() as OutgoingHttpHeaders,
      ...this.#headers,
      ...eventStreamHeaders,
    })
  }

  #drain(): void {
    this.#full = false
    this.#fullTicks = 0
    if (!this.#ended && this.#waiting.length > 0) this.#write(this.#takeWaiting())
    if (!this.#full) this.#backpressure.notify()
  }

  #takeWaiting(): string {
    const text = this.#waiting.join('')
    this.#waiting = []
    this.#waitingEvents = 0
    this.#waitingCharacters = 0
    return text
  }
}
