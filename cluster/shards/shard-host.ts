/** What lives in the shards of a member, as the keeper of the shards sees it. */

import type { ActorKey } from '../actors/actor-key.ts'

export interface ShardHost {
  /** The shards in which something goes on. */
  busy(): ReadonlySet<number>
  /**
   * The shard is this member's from now on. `goingOn`: its actors in which something is to
   * continue; undefined if that is not known.
   */
  taken(shard: number, goingOn: readonly ActorKey[] | undefined): void
  /** The same, if it becomes known after the shard was taken. */
  told(goingOn: readonly ActorKey[]): void
  /**
   * Nothing new is begun in it. Resolves when nothing of it is under way here, with the actors in
   * which something is to continue elsewhere.
   */
  letGo(shard: number): Promise<readonly ActorKey[]>
}
