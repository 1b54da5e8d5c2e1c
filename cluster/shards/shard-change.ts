/** A change of owner, as members announce it to each other. */

import type { ActorKey } from '../actors/actor-key.ts'
import type { ShardClaim } from './shard-port.ts'

/** A new owner; of a shard that was given back, also what the next owner should wake. */
export interface ShardChange extends ShardClaim {
  /** Actors in which something is in progress: a hint, perhaps not all of them. */
  readonly goingOn?: readonly ActorKey[]
}
