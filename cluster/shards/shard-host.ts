/** Host of all that lives in the shards of a member, as the shard balancer sees it. */

import type { ActorKey } from '../actors/actor-key.ts'

/** Holds the actors of the shards that the balancer takes and gives back. */
export interface ShardHost {
  /** The shards in which something is in progress. */
  busy(): ReadonlySet<number>
  /**
   * The shard is this member's from now on. `inProgress`: its actors in which something is to
   * continue; undefined if that is not known.
   */
  taken(shard: number, inProgress: readonly ActorKey[] | undefined): void
  /** The same, if it becomes known after the shard was taken. */
  hinted(inProgress: readonly ActorKey[]): void
  /**
   * Nothing new is begun in it. Resolves when nothing of it is under way here, with the actors in
   * which something is to continue elsewhere.
   */
  release(shard: number): Promise<readonly ActorKey[]>
}
