/** Server-sent events on a bare socket, so that the cost of reading hides no cost of the server. */

import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface StreamEvent {
  readonly event: string
  /** Unparsed. */
  readonly data: string
  readonly id: string
}

export interface StreamRequest {
  /** The URL of the front door. */
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * end     the server ended the stream
 * broken  the connection broke before that
 */
export type StreamEnd = 'end' | 'broken'

export class EventStream {
  /** The status of the answer; rejects if the connection breaks before it. */
  readonly status: Promise<number>
  readonly ended: Promise<StreamEnd>
  readonly #socket: Socket
  readonly #handle: (event: StreamEvent) => void
  readonly #answered = Promise.withResolvers<number>()
  #received: Buffer = Buffer.alloc(0)
  #text = ''
  #hasHead = false
  #complete = false

  /** `hear` is called with each event as soon as it is complete. */
  constructor(request: StreamRequest, hear: (event: StreamEvent) => void) {
    const { hostname, port, host } = new URL(request.url)
    this.#handle = hear
    this.status = this.#answered.promise
    this.status.catch(() => undefined)
    this.#socket = connect(Number(port), hostname)
    this.#socket.setNoDelay(true)
    this.#socket.write(textOf(request, host))
    this.#socket.on('data', (piece) => this.#take(piece))
    this.#socket.on('error', () => undefined)
    this.ended = new Promise((done) =>
      this.#socket.on('close', () => {
        this.#answered.reject(new Error(`${host} closed the connection before it answered.`))
        done(this.#complete ? 'end' : 'broken')
      })
    )
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(piece: Buffer): void {
    this.#received = this.#received.length === 0 ? piece : Buffer.concat([this.#received, piece])
    if (!this.#hasHead && !this.#takeHead()) return
    while (this.#takeChunk()) { /* until the next one is not whole */ }
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      const block = this.#text.slice(0, end)
      this.#text = this.#text.slice(end + 2)
      const event = eventOf(block)
      // A heartbeat has no event name.
      if (event.event !== '') this.#handle(event)
    }
  }

  #takeHead(): boolean {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return false
    const head = this.#received.subarray(0, end).toString('latin1')
    this.#received = this.#received.subarray(end + 4)
    this.#hasHead = true
    this.#answered.resolve(Number(head.slice(9, 12)))
    return true
  }

  #takeChunk(): boolean {
    const end = this.#received.indexOf('\r\n')
    if (end < 0) return false
    const size = Number.parseInt(this.#received.subarray(0, end).toString('latin1'), 16)
    const past = end + 2 + size + 2
    if (this.#received.length < past) return false
    this.#text += this.#received.subarray(end + 2, past - 2).toString()
    this.#received = this.#received.subarray(past)
    if (size > 0) return true
    this.#complete = true
    this.#socket.destroy()
    return false
  }
}

function textOf({ method, path, body, headers = {} }: StreamRequest, host: string): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all = { host, accept: 'text/event-stream', ...headers, ...body &&
    { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(text)}` } }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `${method} ${path} HTTP/1.1\r\n${lines}\r\n${text}`
}

function eventOf(block: string): StreamEvent {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? ''
  return { event: field('event'), data: field('data'), id: field('id') }
}
