/** How a command reaches an actor that another member owns. */

import { HeddleError } from '../src/errors.ts'
import type { ActorKey } from './actor-key.ts'
import type { Member } from './member.ts'

/**
 * Throws what the other member threw: `not_owner` with the owner it knows where it is not the one,
 * and `unavailable` where it cannot be reached.
 */
export interface Transport {
  deliver(to: Member, key: ActorKey, command: unknown): Promise<unknown>
  follow(to: Member, key: ActorKey, request: unknown, listener: unknown): Promise<() => void>
}

/** What a member takes from others. */
export interface Inbound {
  ask(key: ActorKey, command: unknown): Promise<unknown>
  follow(key: ActorKey, request: unknown, listener: unknown): Promise<() => void>
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
    deliver: async (to, key, command) => await inboundOf(to).ask(key, command),
    follow: async (to, key, request, listener) =>
      await inboundOf(to).follow(key, request, listener),
  }
}
