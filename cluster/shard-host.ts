/** What lives in the shards of a member, as the one who keeps the shards sees it. */

import type { ActorKey } from './actor-key.ts'

export interface ShardHost {
  /** The shards in which something goes on. */
  busy(): ReadonlySet<number>
  /**
   * The shard is this member's from now on. `goingOn`: actors of it in which something is to go on;
   * undefined where nobody has told.
   */
  taken(shard: number, goingOn: readonly ActorKey[] | undefined): void
  /** What was told of a shard after it was taken. */
  told(goingOn: readonly ActorKey[]): void
  /**
   * Nothing new of it is asked for. Resolves when nothing of it is under way here, with the actors
   * in which something is to go on elsewhere.
   */
  letGo(shard: number): Promise<readonly ActorKey[]>
}
