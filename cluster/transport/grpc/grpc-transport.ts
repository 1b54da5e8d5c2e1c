/** The transport over gRPC: commands to and follows of actors of other members. */

import type { DeliverRequest, FollowResponse } from '../../../proto/gen/cluster/v1/member.ts'
import { asCoded, ClusterError, goingAway } from '../../errors.ts'
import { wiresOf } from '../../actors/actor-wire.ts'
import type { Asked, FollowLoss, ListenerCodec } from '../../actors/actor-wire.ts'
import type { Member } from '../../member.ts'
import type { Log } from '../../runtime/env.ts'
import type { Delivery, Transport } from '../transport.ts'
import { ambiguous } from './error-trailer.ts'
import { MemberLink } from './link.ts'
import type { LinkOptions } from './link.ts'
import { saidBytesMax, withinLimit } from './options.ts'

/** Links, the kinds whose bytes cross them, and the patience with one answer. */
export interface GrpcTransportOptions extends LinkOptions {
  readonly kinds: readonly Asked[]
  /** Time for an answer, with the reply or that it is under way: 10 s by default. */
  readonly patienceMs?: number
}

/** A transport that knows when each member last answered. */
export interface GrpcTransport extends Transport {
  /** Time of the last message from the member, by the monotonic clock. */
  lastSeenMs(member: Member): number
  /** Ends all that is under way to a member that has ended: callers may go elsewhere. */
  forget(member: Member): void
  /** Ends all that is under way; followers are notified that they are lost. */
  close(): void
}

/** Time of the network beside the patience; after that the connection counts as broken. */
const wayMs = 5_000

/** Time for a follow to begin: an actor that is not active reads its past first. */
const followMs = 15_000

/** Connections to a member that were not used for this long are closed. */
const idleMs = 60_000

/** Reaches members over links that are made when first needed. */
export function grpcTransport(options: GrpcTransportOptions): GrpcTransport {
  const { env, kinds, patienceMs = 10_000 } = options
  const wireOf = wiresOf(kinds)
  /** By the ids of the members. */
  const links = new Map<string, MemberLink>()
  let closed = false

  const linkTo = ({ id, address }: Member) => {
    if (closed) throw goingAway()
    const known = links.get(id)
    if (known !== undefined) return known
    const link = new MemberLink(address, options)
    links.set(id, link)
    return link
  }
  const handle = (link: MemberLink) => {
    link.lastSeenMs = env.monotonicMs()
  }
  const forget = (id: string) => {
    links.get(id)?.close()
    links.delete(id)
  }
  const stopTimer = env.every(idleMs, () => {
    for (const [id, link] of links) {
      if (link.idleSinceMs <= env.monotonicMs() - idleMs) forget(id)
    }
  })
  return {
    deliver: async (to, key, command, delivery = {}) => {
      const { id = env.uuid(), trace = '', cancelled } = delivery
      const { values } = wireOf(key)
      const request = { key, commandId: id, patienceMs, trace,
        command: withinLimit(values.encode(command)) }
      const link = linkTo(to)
      const reply = await untilReply(link, request, cancelled)
      handle(link)
      return values.decode(reply)
    },
    follow: async (to, key, question, listener, { trace = '' }: Delivery = {}) => {
      const { values, listeners } = wireOf(key)
      if (listeners === undefined) throw new ClusterError('unsupported')
      const followId = env.uuid()
      const request = { key, followId, trace, request: withinLimit(values.encode(question)) }
      const link = linkTo(to)
      const stream = await link.open(followMs, (client, call) => client.follow(request, call))
      let ended = false
      void notifyAll(stream.messages, { codec: listeners, listener, log: env.log,
        received: () => handle(link), stopped: () => ended }).finally(() => {
          ended = true
          stream.end()
        })
      return () => {
        if (ended) return
        ended = true
        link.call(wayMs, (client, call) => client.leave({ followId, commandId: '' }, call),
          'follows').catch(stream.end)
      }
    },
    lastSeenMs: ({ id }) => links.get(id)?.lastSeenMs ?? Number.NEGATIVE_INFINITY,
    forget: ({ id }) => forget(id),
    close: () => {
      closed = true
      stopTimer()
      for (const id of links.keys()) forget(id)
    },
  }
}

/** Asks for the reply until it comes, or the caller has gone. */
async function untilReply(link: MemberLink, request: DeliverRequest,
  cancelled?: AbortSignal): Promise<Uint8Array> {
  const { commandId } = request
  // If this message is lost, the member notices in the end that nobody asks for the reply.
  const leave = () =>
    void link.call(wayMs, (client, call) => client.leave({ followId: '', commandId }, call)).catch(
      () => {},
    )
  cancelled?.addEventListener('abort', leave)
  try {
    return await untilAnswered(link, request, cancelled)
  } catch (error) {
    cancelled?.throwIfAborted()
    throw error
  } finally {
    cancelled?.removeEventListener('abort', leave)
  }
}

/**
 * The command itself is done once. Large commands and replies, and those that take long, use calls
 * of their own.
 */
async function untilAnswered(link: MemberLink, request: DeliverRequest,
  cancelled?: AbortSignal): Promise<Uint8Array> {
  const timeoutMs = request.patienceMs + wayMs
  let byCall = request.command.length > saidBytesMax
  for (let received = false;; received = true) {
    try {
      const { reply, underWay } = byCall
        ? await link.call(timeoutMs, (client, call) => client.deliver(request, call))
        : await link.send(timeoutMs, request)
      if (!underWay) return reply
      cancelled?.throwIfAborted()
      byCall = true
    } catch (error) {
      const { details, message } = asCoded(error)
      if (received && details.unreachable !== undefined)
        throw ambiguous(link.address, message, error)
      throw error
    }
  }
}

interface Notifying {
  readonly codec: ListenerCodec
  readonly listener: unknown
  readonly log: Log
  received(): void
  /** The follower wants no more. */
  stopped(): boolean
}

async function notifyAll(messages: AsyncIterator<FollowResponse>,
  { codec, listener, log, received, stopped }: Notifying): Promise<void> {
  let loss: FollowLoss = 'lost'
  try {
    for (;;) {
      const { done, value } = await messages.next()
      if (done) return
      received()
      for (const call of value.calls) if (!stopped()) codec.notify(listener, call)
      if (value.lagged) {
        loss = 'lagged'
        break
      }
    }
  } catch (error) {
    if (!stopped()) log.debug('The connection to a followed actor broke.', { error })
  }
  if (!stopped()) codec.end(listener, loss)
}
