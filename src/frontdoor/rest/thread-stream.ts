/** The route of a thread's stream: the events of all its runs. */

import type { FastifyReply } from 'fastify'

import { joinThreadStream } from '../../api/index.ts'
import { outerPath, requireAllowed } from '../http/caller.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { ThreadStreamRequest } from '../operations/index.ts'
import { holdStream, lastEventId } from './run-reply.ts'
import { SseStream } from './sse.ts'

/** Adds the route of a thread's stream. */
export function threadStreamRoutes(app: App, parts: RouteParts): void {
  serve(app, joinThreadStream, async (request, reply) => {
    const { params: { thread_id: threadId }, query } = request
    const modes = query.stream_mode ?? query.stream_modes ?? ['run_modes']
    return streamThread(parts, threadId, reply, { modes, after: lastEventId(request) })
  })
}

/** Streams until the thread is deleted. Throws only if an error can still be answered. */
async function streamThread(parts: RouteParts, threadId: string, reply: FastifyReply,
  options: ThreadStreamRequest): Promise<FastifyReply> {
  const { threads, ticker } = parts
  const { caller } = reply.request
  requireAllowed(caller, 'read')
  holdStream(parts, reply)
  let unfollow = () => {}
  let gone = false
  const stream = new SseStream(reply, {
    headers: { location: outerPath(reply.request, `/threads/${threadId}/stream`) },
    made: false,
    stillValid: caller.stillValid,
    closed: () => {
      gone = true
      ticker.remove(stream)
      unfollow()
    },
  })
  ticker.add(stream, { kind: 'sse', runId: threadId })
  try {
    unfollow = await threads.followFrames(caller, threadId, options, stream)
    stream.begin()
    if (gone) unfollow()
  } catch (error) {
    ticker.remove(stream)
    if (!stream.begun) throw error
    stream.leave()
  }
  return reply
}
