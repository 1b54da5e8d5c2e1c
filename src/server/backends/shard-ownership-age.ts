/** Since when this member owns its shards: a new counter in an old shard need ask nobody. */

import { actorKeyText, atLatest, shardOf } from '../../../cluster/index.ts'
import type { Env, Seat, ShardHost } from '../../../cluster/index.ts'
import { limitActorKey, limitServiceName } from '../../limits/index.ts'
import type { AdmitsQuestion, RecentAdmits } from '../../limits/index.ts'

export interface TenureParts {
  readonly env: Env
  readonly seat: Pick<Seat, 'self' | 'askMember' | 'status'>
  readonly shards: number
}

/** Slower answers are not waited for; front doors wait longer for their counter. */
const answerMs = 2_000

export class Tenure {
  readonly #parts: TenureParts
  readonly #sinceMs = new Map<number, number>()

  constructor(parts: TenureParts) {
    this.#parts = parts
  }

  /** The same host, but the time when each shard is taken is noted. */
  watched(host: ShardHost): ShardHost {
    return {
      busy: () => host.busy(),
      taken: (shard, goingOn) => {
        this.#sinceMs.set(shard, this.#parts.env.monotonicMs())
        return host.taken(shard, goingOn)
      },
      told: (goingOn) => host.told(goingOn),
      letGo: (shard) => host.letGo(shard),
    }
  }

  /** As described in the ground. */
  async askDoors(question: AdmitsQuestion, recentMs: number):
  Promise<readonly (RecentAdmits | undefined)[]> {
    const { env, seat, shards } = this.#parts
    const sinceMs = this.#sinceMs.get(shardOf(actorKeyText(limitActorKey(question)), shards))
    if (sinceMs !== undefined && env.monotonicMs() - sinceMs > recentMs) return []
    return await Promise.all(seat.status().view.map(async (member) => {
      const asked = seat.askMember(member, limitServiceName, question).catch(() => undefined)
      return await atLatest(env, answerMs, asked) as RecentAdmits | undefined
    }))
  }
}
