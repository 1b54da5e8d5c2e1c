/** The route of a thread's stream: the events of all its runs. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { outerPath, requireAllowed } from '../http/caller.ts'
import { eventStream, route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import type { ThreadStreamRequest } from '../operations/index.ts'
import { JoinThread, JoinThreadHeaders, ThreadPath } from '../schema/thread.ts'
import { holdStream } from './run-reply.ts'
import { SseStream } from './sse.ts'

/** Adds the route of a thread's stream. */
export function threadStreamRoutes(app: App, parts: RouteParts): void {
  app.get('/threads/:thread_id/stream',
    route('read', 'joinThreadStream', { tag: 'Threads', params: ThreadPath, querystring: JoinThread,
      headers: JoinThreadHeaders, answer: eventStream, returns: ['location'],
      summary: 'Stream the events of all runs of a thread' }), async (request, reply) => {
    const { params: { thread_id: threadId }, query } = request
    const modes = query.stream_mode ?? query.stream_modes ?? ['run_modes']
    await streamThread(parts, threadId, reply, { modes, after: lastEventId(request) })
  })
}

/** Streams until the thread is deleted. Throws only if an error can still be answered. */
async function streamThread(parts: RouteParts, threadId: string, reply: FastifyReply,
  options: ThreadStreamRequest): Promise<void> {
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
    unfollow = await threads.followFrames(caller.tenant, threadId, options, stream)
    stream.begin()
    if (gone) unfollow()
  } catch (error) {
    ticker.remove(stream)
    if (!stream.begun) throw error
    stream.leave()
  }
}

function lastEventId({ headers }: FastifyRequest): string | null {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : null
}
