/** Raw HTTP, for what the official client hides. */

import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** An answer, parsed. */
export interface JsonAnswer {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the answer has no body. */
  readonly body: unknown
}

/** Sends a request with a JSON body: none for undefined, and a string unchanged. */
export async function ask(url: string, method: string, path: string, body?: unknown,
  headers: Record<string, string> = {}): Promise<JsonAnswer> {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  const answer = await fetch(url + path, {
    method,
    headers: text === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...text !== undefined && { body: text },
  })
  const answered = await answer.text()
  return { status: answer.status, headers: answer.headers, body: parsed(answered) }
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The message that every error carries twice, as `detail` and as `message`. */
export function messageOf(answer: JsonAnswer): string {
  const { detail, message } = answer.body as { detail?: unknown; message?: unknown }
  if (typeof message !== 'string' || detail === undefined) {
    throw new Error(`no detail and message in ${JSON.stringify(answer.body)}`)
  }
  return message
}

/** A block of a server-sent event stream, between two blank lines. */
export interface Frame {
  readonly text: string
  readonly atMs: number
}

/** The blocks of a stream, comments included, as they arrive. */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      yield { text: rest.slice(0, end), atMs: performance.now() }
      rest = rest.slice(end + 2)
    }
  }
  if (rest !== '') yield { text: rest, atMs: performance.now() }
}

/** A new connection on which nothing has been sent. */
export function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((done, failed) => {
    const socket = connect(Number(port), hostname, () => done(socket))
    socket.once('error', failed)
  })
}

/** Collects everything that comes back until the other side closes or `enough` returns true. */
export function hear(socket: Socket,
  enough: (received: string) => boolean = () => false): Promise<string> {
  return new Promise((done) => {
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
      if (enough(received)) done(received)
    })
    socket.once('close', () => done(received))
    socket.once('error', () => done(received))
  })
}
