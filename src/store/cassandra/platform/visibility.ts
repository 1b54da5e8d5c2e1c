/** Filter for removed spans. Late operations may have written again what was removed. */

import type { SpanPlace } from '../../../platform/index.ts'
import type { BucketTable, Removals } from './bucket-table.ts'

/** Leaves out what is removed. */
export class Visibility {
  readonly #buckets: BucketTable

  constructor(buckets: BucketTable) {
    this.#buckets = buckets
  }

  /** Places of a tenant that are not removed, in their order. */
  async of<Place extends SpanPlace>(places: readonly Place[]): Promise<readonly Place[]> {
    const projects = Map.groupBy(places, ({ project }) => project)
    const visible = await Promise.all(
      [...projects].map(async ([project, all]) =>
        await this.inProject(all, await this.#buckets.removals(all[0]!.tenant, project))
      ),
    )
    const kept = new Set(visible.flat())
    return places.filter((place) => kept.has(place))
  }

  /** The same for places of one project whose removals are known. */
  async inProject<Place extends SpanPlace>(places: readonly Place[],
    { beforeUs, someTraces }: Removals): Promise<readonly Place[]> {
    const later = places.filter(({ startUs }) => startUs >= beforeUs)
    if (!someTraces || later.length === 0) return later
    const { tenant, project } = later[0]!
    const removed = await this.#buckets.removedOf(tenant, project, later.map(({ trace }) => trace))
    return later.filter(({ trace }) => !removed.has(trace))
  }
}
