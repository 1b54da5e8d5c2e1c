/** Streams on which a client learns that its tools have changed. */

import type { FastifyReply } from 'fastify'

import { isObject, objectOf } from '../../json/index.ts'
import { holdStream } from '../rest/run-reply.ts'
import { resultText } from '../json-rpc.ts'
import type { McpParts } from './call.ts'
import { notificationText } from './message.ts'
import type { Request } from './message.ts'
import { MessageStream } from './message-stream.ts'
import { subscriptionKey } from './revision.ts'
import { RpcError } from './rpc-error.ts'
import type { ToolNotices } from './tool-notices.ts'

const changed = 'notifications/tools/list_changed'

/** Parts of streams of notices. */
export interface ListeningParts extends McpParts {
  readonly notices: ToolNotices
}

/** The stream of a session. It goes on until the client leaves. */
export function streamSession(parts: ListeningParts, reply: FastifyReply,
  session: string): Promise<FastifyReply> {
  return listen(parts, reply, {
    name: session,
    isWanted: true,
    notice: notificationText(changed),
    leaving: (stream) => stream.cut(),
  })
}

/** `subscriptions/listen`. Of what was asked for, the changes of tools are sent. */
export async function subscribe(parts: ListeningParts, reply: FastifyReply,
  { id, params }: Request): Promise<FastifyReply> {
  const { notifications } = params
  if (!isObject(notifications)) {
    throw new RpcError('invalidParams', 'A subscription must say its notifications.')
  }
  const isWanted = objectOf(notifications)['toolsListChanged'] === true
  const _meta = { [subscriptionKey]: id }
  return await listen(parts, reply, {
    name: String(id),
    isWanted,
    first: notificationText('notifications/subscriptions/acknowledged', { _meta,
      notifications: isWanted ? { toolsListChanged: true } : {} }),
    notice: notificationText(changed, { _meta }),
    leaving: (open) => {
      open.send(resultText(id, JSON.stringify({ resultType: 'complete', _meta })))
      open.end()
    },
  })
}

interface Listened {
  readonly name: string
  readonly isWanted: boolean
  readonly first?: string
  readonly notice: string
  leaving(stream: MessageStream): void
}

async function listen(parts: ListeningParts, reply: FastifyReply,
  { name, isWanted, first, notice, leaving }: Listened): Promise<FastifyReply> {
  const { caller } = reply.request
  // A caller that may not search for tools would wait for a notice that never comes.
  if (isWanted && caller.login !== undefined) {
    await parts.assistants.search(caller, { limit: 1 })
  }
  holdStream(parts, reply)
  let stop = () => {}
  const stream: MessageStream = new MessageStream(reply, {
    stillValid: caller.stillValid,
    leaving: () => leaving(stream),
    closed: () => {
      parts.ticker.remove(stream)
      stop()
    },
  })
  parts.ticker.add(stream, { kind: 'sse', runId: name })
  const begin = () => first !== undefined && stream.send(first)
  if (!isWanted || stream.left.aborted) begin()
  else {
    const listening = parts.notices.listen(caller, () => stream.sendIfRead(notice))
    stop = () => listening.stop()
    void listening.ready.then(begin)
  }
  return reply
}
