/** The routes of protocol v2: commands, and the events of a thread over HTTP and WebSocket. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import { openThreadSocket, sendCommand, streamThreadEvents } from '../../api/index.ts'
import type { EventFilter } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import type { LongJson } from '../../json/index.ts'
import type { InputQuota } from '../../thread/index.ts'
import type { Limit } from '../http/guard.ts'
import { leftSignal, sendJson } from '../http/list-reply.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { isUpgrade } from '../http/connections/upgrade.ts'
import type { SocketServer } from '../http/connections/upgrade.ts'
import { holdStream, lastEventId, runCallerOf } from '../rest/run-reply.ts'
import { perform } from './commands.ts'
import { errorText, hasOwnStatus, successText } from './envelope.ts'
import { asksForMoreThanEnds, eventTest, filterCharactersMax, resumed } from './event-filter.ts'
import { eventReader } from './event-reader.ts'
import { EventStream } from './event-stream.ts'
import { ThreadSocket } from './thread-socket.ts'

/** Parts that the routes of the protocol need besides those that all routes share. */
export interface ProtocolParts extends RouteParts {
  readonly env: Env
  readonly json: LongJson
  /** Room for long frames until they are read. */
  readonly bodies: InputQuota
  readonly sockets: SocketServer
  readonly limit?: Limit | undefined
}

/** Adds the routes. Call after the REST routes, whose checks and body readers they use. */
export function protocolRoutes(app: App, parts: ProtocolParts): void {
  serve(app, sendCommand, async (request, reply) => {
    const { params: { thread_id: threadId }, body } = request
    const context = { ...contextOf(request, threadId, parts), left: leftSignal(reply) }
    try {
      const outcome = await perform(context, body)
      return await sendJson(reply, successText(body.id, threadId, outcome))
    } catch (error) {
      if (hasOwnStatus(error)) throw error
      return sendJson(reply, errorText(body.id, threadId, error))
    }
  })
  serve(app, streamThreadEvents, async (request, reply) => {
    requireShort(request.body)
    holdStream(parts, reply)
    const filter = resumed(request.body, lastEventId(request) ?? undefined)
    return streamEvents(parts, reply, request.params.thread_id, filter)
  })
  serve(app, openThreadSocket, async (request, reply) => {
    if (!isUpgrade(request)) {
      throw new HeddleError('invalid', 'A GET here opens a WebSocket: send `Upgrade: ' +
        'websocket`, or POST a filter for server-sent events.')
    }
    holdStream(parts, reply)
    openSocket(parts, request, reply, request.params.thread_id)
    return reply
  })
}

function contextOf(request: FastifyRequest, threadId: string,
  { runs, threads, json, env }: ProtocolParts) {
  return { runs, threads, json, caller: request.caller, runCaller: runCallerOf(request), threadId,
    newId: () => env.uuid() }
}

function requireShort(filter: EventFilter): void {
  if (JSON.stringify(filter).length <= filterCharactersMax) return
  throw new HeddleError('invalid', `A filter may have ${filterCharactersMax / 1024} KB of JSON.`)
}

async function streamEvents({ threads, ticker, env }: ProtocolParts, reply: FastifyReply,
  threadId: string, filter: EventFilter): Promise<FastifyReply> {
  const { caller, headers } = reply.request
  const reader = eventReader(headers, env.nowMs())
  reader.asks(filter)
  let unfollow = () => {}
  let gone = false
  const stream = new EventStream(reply, {
    passes: eventTest(filter),
    reader,
    stillValid: caller.stillValid,
    closed: () => {
      gone = true
      ticker.remove(stream)
      unfollow()
    },
  })
  ticker.add(stream, { kind: 'sse', runId: threadId })
  try {
    unfollow = await threads.follow(caller, threadId, {
      afterSeq: filter.since ?? null,
      skipsOldEnds: asksForMoreThanEnds(filter),
    }, stream)
    stream.begin()
    if (gone) unfollow()
  } catch (error) {
    ticker.remove(stream)
    if (!stream.begun) throw error
    stream.leave()
  }
  return reply
}

function openSocket(parts: ProtocolParts, request: FastifyRequest, reply: FastifyReply,
  threadId: string): void {
  const { sockets, ticker, env, json, bodies, limit, reads } = parts
  const { caller, raw: { socket: connection } } = request
  sockets.accept(request, reply, (socket) => {
    const threadSocket = new ThreadSocket(socket, {
      connection,
      context: contextOf(request, threadId, parts),
      reader: eventReader(request.headers, env.nowMs()),
      json,
      frames: bodies.of(caller.tenant),
      reads,
      charge: async () => {
        await limit?.(request, { identity: caller.identity, caller }, reply)
        await request.deployment?.charge()
      },
      newId: () => env.uuid(),
      failed: (error) => reply.server.answerFailed(request, error),
      closed: () => ticker.remove(threadSocket),
    })
    ticker.add(threadSocket, { kind: 'sse', runId: threadId })
  })
}
