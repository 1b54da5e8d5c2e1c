/** Tells writers which of their spans are removed, with few reads. */

import { LRUCache } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { SpanPlace } from '../../../platform/index.ts'
import { removalsLeaseMs } from './bucket-table.ts'
import type { BucketTable, Removals } from './bucket-table.ts'
import type { Visibility } from './visibility.ts'

/** Projects whose removals are kept. */
const projectsMax = 10_000

interface Known {
  readonly removals: Removals
  readonly untilMs: number
}

/** Removals of projects as a writer knows them, without some of the last `removalsLeaseMs`. */
export class LateWrites {
  readonly #buckets: BucketTable
  readonly #visibility: Visibility
  readonly #env: Pick<Env, 'monotonicMs'>
  readonly #known = new LRUCache<string, Known>({ max: projectsMax })

  constructor(buckets: BucketTable, visibility: Visibility, env: Pick<Env, 'monotonicMs'>) {
    this.#buckets = buckets
    this.#visibility = visibility
    this.#env = env
  }

  /** The places of a request that no reader finds. */
  async removed(places: readonly SpanPlace[]): Promise<readonly SpanPlace[]> {
    const removed: SpanPlace[] = []
    for (const all of Map.groupBy(places, ({ project }) => project).values()) {
      const visible = new Set(await this.#visibility.inProject(all, await this.#removals(all[0]!)))
      for (const place of all) if (!visible.has(place)) removed.push(place)
    }
    return removed
  }

  async #removals({ tenant, project }: SpanPlace): Promise<Removals> {
    const key = `${project} ${tenant}`
    const known = this.#known.get(key)
    const nowMs = this.#env.monotonicMs()
    if (known !== undefined && known.untilMs > nowMs) return known.removals
    const removals = await this.#buckets.removals(tenant, project)
    this.#known.set(key, { removals, untilMs: nowMs + removalsLeaseMs })
    return removals
  }
}
