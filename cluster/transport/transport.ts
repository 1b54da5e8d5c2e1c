/** Way of a command to an actor that another member owns. */

import { ClusterError } from '../errors.ts'
import type { ActorKey } from '../actors/actor-key.ts'
import type { Member } from '../member.ts'

/**
 * Throws what the other member threw: `not_owner`, with the owner that it knows, if it is not the
 * owner, and `unavailable` if nobody received the command. An error whose outcome is `maybe_done`
 * means that the command may have been received: the same command with the same id finds out.
 *
 * Commands to one key are handled in order if each was answered before the next was sent.
 */
export interface Transport {
  /** The reply of the actor, or of a service of that member. */
  deliver(to: Member, key: ActorKey, command: unknown, delivery?: Delivery): Promise<unknown>
  /** Once this has resolved, the last call of `listener` reports a broken connection. */
  follow(to: Member, key: ActorKey, request: unknown, listener: unknown,
    delivery?: Delivery): Promise<() => void>
}

/** Identity, trace and cancellation that go with a command to another member. */
export interface Delivery {
  /** The same for each try of one command, so that it is done once. By default a new one. */
  readonly id?: string
  /** The trace that the command is part of; empty if there is none. */
  readonly trace?: string
  /** Aborts, with a CodedError, when the caller has gone. */
  readonly cancelled?: AbortSignal
}

/** Entrance for the commands and follows of other members. */
export interface Inbound {
  /** The reply of an actor or a service of this member. */
  ask(key: ActorKey, command: unknown, delivery?: Delivery): Promise<unknown>
  follow(key: ActorKey, request: unknown, listener: unknown,
    delivery?: Delivery): Promise<() => void>
}

/** Connects members that live in one process. */
export interface InProcessTransport extends Transport {
  /** From now on `member` can be reached: what is sent to it goes to `inbound`. */
  attach(member: Member, inbound: Inbound): void
}

/** Hands commands over without bytes: for tests, and for a cluster of one. */
export function inProcessTransport(): InProcessTransport {
  const inbounds = new Map<string, Inbound>()
  const inboundOf = (member: Member) => {
    const inbound = inbounds.get(member.id)
    if (inbound !== undefined) return inbound
    throw new ClusterError('unavailable', `The member at ${member.address} cannot be reached.`)
  }
  return {
    attach: (member, inbound) => void inbounds.set(member.id, inbound),
    deliver: async (to, key, command, delivery) => await inboundOf(to).ask(key, command, delivery),
    follow: async (to, key, request, listener, delivery) =>
      await inboundOf(to).follow(key, request, listener, delivery),
  }
}
