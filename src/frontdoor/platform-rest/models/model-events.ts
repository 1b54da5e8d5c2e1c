/** Events that models cause, as server-sent events. */

import type { FastifyReply } from 'fastify'

import { HeddleError } from '../../../errors.ts'
import { holdStream } from '../../rest/run-reply.ts'
import { SseStream } from '../../rest/sse.ts'
import type { PlatformParts } from '../platform-route.ts'

/** An event on the wire. */
export interface ModelEvent {
  readonly name: string
  readonly data: object
}

/**
 * Sends the events. What fails before the first one is an ordinary error. Their signal aborts when
 * the reader leaves.
 */
export async function sendEvents(parts: PlatformParts, reply: FastifyReply,
  events: (signal: AbortSignal) => AsyncIterable<ModelEvent>): Promise<void> {
  const { ticker, env } = parts
  holdStream(parts, reply)
  const stop = new AbortController()
  let number = 0
  const stream = new SseStream(reply, {
    headers: {},
    made: false,
    stillValid: reply.request.caller.stillValid,
    closed: () => {
      ticker.remove(stream)
      stop.abort(new HeddleError('unavailable', 'The reader left.'))
    },
  })
  ticker.add(stream)
  try {
    for await (const { name, data } of events(stop.signal)) {
      await stream.ready()
      stream.events([{ name, json: JSON.stringify(data), id: String(++number) }])
    }
    stream.ended('over')
  } catch (error) {
    ticker.remove(stream)
    if (stop.signal.aborted) return
    if (!stream.begun) throw error
    env.log.warn('A stream of answers of models was cut.', { error })
    stream.leave()
  }
}
