/**
 * Notes of the ids of spans and traces that were removed on request. They are stored among the
 * removed traces, below projects that no tenant has.
 */

import { hash } from 'node:crypto'

import type { Uuid } from '../../../platform/index.ts'
import type { BucketTable } from './bucket-table.ts'

/** Project of the notes, but for its last byte. */
const notes = '676f6e65-0000-8000-8000-0000000000'

/** Writes and finds notes of ids. */
export class GoneIds {
  readonly #buckets: BucketTable

  constructor(buckets: BucketTable) {
    this.#buckets = buckets
  }

  /** Notes ids of spans and traces. */
  async note(tenant: string, ids: readonly Uuid[]): Promise<void> {
    for (const [project, some] of Map.groupBy(ids, projectOf)) {
      await this.#buckets.noteTraces(tenant, project, some)
    }
  }

  /** Returns the ids that were removed. They may be in use again. */
  async find(tenant: string, ids: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
    const found = await Promise.all(
      [...Map.groupBy(ids, projectOf)].map(([project, some]) =>
        this.#buckets.removedOf(tenant, project, some)
      ),
    )
    return new Set(found.flatMap((some) => [...some]))
  }
}

/** One of 256 projects, so that no partition has the notes of all ids. */
function projectOf(id: Uuid): Uuid {
  return `${notes}${hash('sha1', id).slice(0, 2)}`
}
