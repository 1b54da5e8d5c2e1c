/** Key to shard to owner to activation: how a command finds its actor. */

import { HeddleError } from '../src/errors.ts'
import type { Activations } from './activations.ts'
import { actorKeyText } from './actor-key.ts'
import type { ActorKey } from './actor-key.ts'
import type { Owner, Ownership } from './ownership.ts'
import { shardOf } from './shard.ts'
import type { Inbound, Transport } from './transport.ts'

/**
 * The caller may rely on: commands that it sends to one key, one after another, are heard in that
 * order. Rejects with what the actor threw; with `full` where too much waits for the actor; with
 * `unavailable` where nobody heard the command. A refusal has `again` among its facts where an
 * earlier try of the same command may have been heard.
 */
export interface Router {
  /** The actor's reply. */
  ask(key: ActorKey, command: unknown): Promise<unknown>
  /** Lets the actor tell `listener` until the returned function is called. */
  follow(key: ActorKey, request: unknown, listener: unknown): Promise<() => void>
}

export interface RouterOptions {
  readonly ownership: Ownership
  readonly activations: Activations
  readonly transport: Transport
}

/** Reaches every actor of the cluster, wherever it lives. */
export function createRouter({ ownership, activations, transport }: RouterOptions): Router {
  return {
    ask: (key, command) => {
      const owner = ownerOf(ownership, key)
      if (owner.member !== ownership.self) return transport.deliver(owner.member, key, command)
      return activations.ask(key, owner.epoch, command)
    },
    follow: (key, request, listener) => {
      const owner = ownerOf(ownership, key)
      if (owner.member === ownership.self) {
        return activations.follow(key, owner.epoch, request, listener)
      }
      return transport.follow(owner.member, key, request, listener)
    },
  }
}

/**
 * Takes what other members deliver. Anyone may be asked, only the owner answers: for a key of
 * another member it throws `not_owner`, whose facts tell the owner and epoch that are known here.
 */
export function createInbound(options: Omit<RouterOptions, 'transport'>): Inbound {
  const { ownership, activations } = options
  const epochOf = (key: ActorKey) => {
    const { member, epoch } = ownerOf(ownership, key)
    if (member === ownership.self) return epoch
    throw new HeddleError('not_owner', undefined, { owner: member, epoch })
  }
  return {
    ask: async (key, command, _, commandId) =>
      await activations.ask(key, epochOf(key), command, commandId),
    follow: async (key, request, listener) =>
      await activations.follow(key, epochOf(key), request, listener),
  }
}

function ownerOf(ownership: Ownership, key: ActorKey): Owner {
  return ownership.ownerOf(shardOf(actorKeyText(key), ownership.shards))
}
