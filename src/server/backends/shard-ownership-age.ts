/**
 * Records for how long this member has owned its shards. A new counter in an old shard need not ask
 * other members.
 */

import { actorKeyText, atLatest, shardOf } from '../../../cluster/index.ts'
import type { Env, ClusterNode, ShardHost } from '../../../cluster/index.ts'
import { limitActorKey, limitServiceName } from '../../limits/index.ts'
import type { AdmitsQuestion, RecentAdmits } from '../../limits/index.ts'

/** Clock and node for asking other members. `shards` is the number of all shards. */
export interface ShardOwnershipAgeParts {
  readonly env: Env
  readonly node: Pick<ClusterNode, 'self' | 'askMember' | 'status'>
  readonly shards: number
}

/**
 * Time for an answer. Slower ones are not waited for; front doors wait longer for their counter.
 */
const answerMs = 2_000

/** Knows how long this member has owned each shard. Belongs to the Cassandra backend. */
export class ShardOwnershipAge {
  readonly #parts: ShardOwnershipAgeParts
  readonly #sinceMs = new Map<number, number>()

  constructor(parts: ShardOwnershipAgeParts) {
    this.#parts = parts
  }

  /** Wraps a host to note the time when each shard is taken. */
  watched(host: ShardHost): ShardHost {
    return {
      busy: () => host.busy(),
      taken: (shard, inProgress) => {
        this.#sinceMs.set(shard, this.#parts.env.monotonicMs())
        return host.taken(shard, inProgress)
      },
      hinted: (inProgress) => host.hinted(inProgress),
      release: (shard) => host.release(shard),
    }
  }

  /** Does what the method of the backend promises. */
  async askDoors(question: AdmitsQuestion,
    recentMs: number): Promise<readonly (RecentAdmits | undefined)[]> {
    const { env, node, shards } = this.#parts
    const sinceMs = this.#sinceMs.get(shardOf(actorKeyText(limitActorKey(question)), shards))
    if (sinceMs !== undefined && env.monotonicMs() - sinceMs > recentMs) return []
    return await Promise.all(node.status().view.map(async (member) => {
      const asked = node.askMember(member, limitServiceName, question).catch(() => undefined)
      return await atLatest(env, answerMs, asked) as RecentAdmits | undefined
    }))
  }
}
