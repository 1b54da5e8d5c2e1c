/** Key to shard to owner to activation: how a command finds its actor. */

import type { ActorKey } from './actor-key.ts'

export interface Router {
  /** The actor's reply. Throws what the actor threw, or `full` where its mailbox is. */
  ask(key: ActorKey, command: unknown): Promise<unknown>
  follow(key: ActorKey, request: unknown, listener: unknown): Promise<() => void>
}
