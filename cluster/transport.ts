/** How a command reaches an actor that another member owns. */

import { HeddleError } from '../src/errors.ts'
import type { ActorKey } from './actor-key.ts'
import type { Member } from './member.ts'

/**
 * Throws what the other member threw: `not_owner` with the owner it knows where it is not the one,
 * and `unavailable` where nobody heard the command. An error with `facts.ambiguous` says that it is
 * not known whether it was heard: the same command with the same id finds out.
 *
 * Commands to one key are heard in order where each was answered before the next was sent.
 */
export interface Transport {
  deliver(to: Member, key: ActorKey, command: unknown, delivery?: Delivery): Promise<unknown>
  /** Once this has resolved, the last call of `listener` says so where the way breaks. */
  follow(to: Member, key: ActorKey, request: unknown, listener: unknown, delivery?: Delivery):
    Promise<() => void>
}

export interface Delivery {
  /** The same for each try of one command: it is done once. A new one unless told. */
  readonly id?: string
  /** What the command is part of, for those who watch; empty where nobody does. */
  readonly trace?: string
  /** Aborts, with a HeddleError, when nobody waits for the reply any more. */
  readonly gone?: AbortSignal
}

/** What a member takes from others. */
export interface Inbound {
  ask(key: ActorKey, command: unknown, delivery?: Delivery): Promise<unknown>
  follow(key: ActorKey, request: unknown, listener: unknown, delivery?: Delivery):
    Promise<() => void>
}

/** Joins members that live in one process. */
export interface InProcessTransport extends Transport {
  /** From now on `member` is reached: what arrives for it goes to its `inbound`. */
  attach(member: Member, inbound: Inbound): void
}

export function inProcessTransport(): InProcessTransport {
  const inbounds = new Map<string, Inbound>()
  const inboundOf = (member: Member) => {
    const inbound = inbounds.get(member.id)
    if (inbound !== undefined) return inbound
    throw new HeddleError('unavailable', `The member at ${member.address} cannot be reached.`)
  }
  return {
    attach: (member, inbound) => void inbounds.set(member.id, inbound),
    deliver: async (to, key, command, delivery) =>
      await inboundOf(to).ask(key, command, delivery),
    follow: async (to, key, request, listener, delivery) =>
      await inboundOf(to).follow(key, request, listener, delivery),
  }
}
