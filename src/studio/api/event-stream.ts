/**
 * Follows a stream of events across broken connections: nothing twice, nothing lost. A hidden tab
 * has no connection, and goes on where it was when it is seen again.
 */

import { after, elapsedMs, pause } from '../env.ts'
import { untilBack } from '../away.ts'
import { ApiError, send } from './client.ts'
import { eventParser } from './event-parser.ts'
import type { ServerEvent } from './event-parser.ts'
import { inSight, untilHidden } from '../in-sight.ts'

/** An event, and when it came by the clock of `elapsedMs`. */
export interface StreamEvent extends ServerEvent {
  readonly atMs: number
}

/** Address of a stream, and the options to follow it with. */
export interface Stream {
  /** A path of the API. A POST starts a run; its answer says where to go on after a break. */
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** The id of the last event that is known; `-` for all that the server has. */
  readonly lastEventId?: string
  /** Why there is no connection: a refusal, or no answer. Undefined once it speaks again. */
  readonly away?: (why: Error | undefined) => void
  /** An answer came: its headers have `content-location`, the path of the run. */
  readonly opened?: (headers: Headers) => void
}

/** The server says something every five seconds. */
const silenceMs = 12_000

/**
 * Follows a stream. Ends when the server ends it in peace. Throws ApiError for a refusal, and for a
 * POST whose answer never came: whether it did anything is not known then.
 */
export async function* follow(stream: Stream): AsyncGenerator<StreamEvent> {
  let { path, method = 'GET' } = stream
  let last = stream.lastEventId ?? ''
  for (let tries = 0;; tries++) {
    // A POST begins something, whoever looks.
    if (method === 'GET') await inSight(stream.signal)
    const sight = untilHidden(stream.signal)
    const signal = method === 'GET' ? sight.signal : stream.signal
    try {
      const response = await send(path, { method, signal,
        headers: { ...stream.headers, ...last !== '' && { 'last-event-id': last } },
        ...method === 'POST' && { body: stream.body } })
      stream.opened?.(response.headers)
      stream.away?.(undefined)
      const place = response.headers.get('location')
      if (place !== null && method === 'POST') [path, method] = [place, 'GET']
      for await (const event of eventsOf(response.body!, signal)) {
        if (event.id !== '') last = event.id
        tries = 0
        yield event
      }
      return
    } catch (error) {
      if (stream.signal.aborted || method === 'POST') throw error
      if (signal.aborted) continue
      if (error instanceof ApiError && isFinal(error)) throw error
      stream.away?.(error instanceof Error ? error : new Error(String(error)))
      await pause(waitMs(error, tries), stream.signal)
      await untilBack(stream.signal)
    } finally {
      sight.forget()
    }
  }
}

/** True for a refusal that stays. */
const isFinal = ({ status }: ApiError) => status > 0 && status < 500 && status !== 429

/** A server that refuses is asked less often than one that may be back at any moment. */
function waitMs(error: unknown, tries: number): number {
  const { status = 0, retryAfterS = null } = error instanceof ApiError ? error : {}
  return retryAfterS !== null
    ? retryAfterS * 1_000
    : Math.min(150 * 2 ** tries, status === 0 ? 1_000 : 5_000)
}

async function* eventsOf(body: ReadableStream<Uint8Array>,
  signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parse = eventParser()
  try {
    for (;;) {
      const { value, done } = await inTime(reader)
      if (done) {
        if (signal.aborted) throw signal.reason
        return
      }
      for (const event of parse(decoder.decode(value, { stream: true }))) {
        yield { ...event, atMs: elapsedMs() }
      }
    }
  } finally {
    void reader.cancel().catch(() => {})
  }
}

/** A connection that is silent for longer than the server ever is, is dead. */
async function inTime(reader: ReadableStreamDefaultReader<Uint8Array>) {
  const silence = Promise.withResolvers<never>()
  const forget = after(silenceMs, () => silence.reject(new Error('The connection is silent.')))
  try {
    return await Promise.race([reader.read(), silence.promise])
  } finally {
    forget()
  }
}
