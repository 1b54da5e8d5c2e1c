/** The annotation queues of tenants: records of a catalog, and their items as documents. */

import { firstPlaces } from '../../spans/first-places.ts'
import type { QueueBody } from '../../../api/index.ts'
import { namedId } from '../catalog/named-id.ts'
import { collection } from '../catalog/collection.ts'
import type { PendingRemovals } from '../catalog/pending-removals.ts'
import type { RecordQuery } from '../catalog/record-query.ts'
import type { Uuid } from '../../spans/span.ts'
import { queueItems } from './catalog-items.ts'
import type { AddedItem, QueueItems, QueueParts } from './catalog-items.ts'
import { queueFields, queueOf } from './queue.ts'
import type { Queue } from './queue.ts'

/** Choice of queues to list. */
export interface QueueQuery
  extends
    Pick<RecordQuery,
      'ids' | 'name' | 'nameContains' | 'sortBy' | 'descending' | 'limit' | 'offset'> {
  /** Dataset that the items of the listed queues go to. */
  readonly dataset?: Uuid
}

/** Annotation queues. All methods throw HeddleError; `not_found` for what does not exist. */
export interface Queues extends QueueItems {
  list(tenant: string, query: QueueQuery): Promise<
    { readonly queues: readonly Queue[]; readonly total: number }
  >
  get(tenant: string, queue: Uuid): Promise<Queue>
  /** `exists` if the name or the id is taken, `full` if there are too many. */
  create(tenant: string, body: QueueBody & { readonly name: string; readonly id?: Uuid }): Promise<
    Queue
  >
  patch(tenant: string, queue: Uuid, body: QueueBody & { readonly name?: string }): Promise<Queue>
  delete(tenant: string, queue: Uuid): Promise<void>
  /** Adds runs that exist; each is in the queue once. For rules. */
  add(tenant: string, queue: Uuid, runs: readonly Uuid[]): Promise<readonly AddedItem[]>
}

/** Queues of a tenant. The bound exists because a search for an item asks all of them. */
const queuesMax = 200

/** The id of a reviewer, by what identifies the caller. */
export function reviewerId(identity: readonly string[]): Uuid {
  return namedId('reviewer', JSON.stringify(identity))
}

/** The queues of tenants, kept in catalogs and documents. */
export function queuesOver(
  { removals, ...parts }: QueueParts & { readonly removals: Pick<PendingRemovals, 'remove'> },
): Queues {
  const { catalogs, query, env } = parts
  const queues = collection(catalogs, env, { name: 'queue', parse: queueOf,
    missing: () => 'There is no such annotation queue.',
    max: { count: queuesMax, full: `There may be ${queuesMax} annotation queues. Delete some.` } })
  const { get, all } = queues
  const items = queueItems(parts, queues)
  return {
    ...items,
    get,
    list: async (tenant, { dataset, limit, offset, ...asked }) => {
      if (dataset === undefined) {
        const { values, total } = await queues.list(tenant, { ...asked, limit, offset })
        return { queues: values, total }
      }
      const found = (await all(tenant)).filter(({ default_dataset: own }) => own === dataset)
      return { queues: found.slice(offset, offset + limit), total: found.length }
    },
    create: (tenant, { name, id, ...body }) =>
      queues.create(tenant, { ...id !== undefined && { id }, name, body: queueFields(body) }),
    patch: async (tenant, queue, { name, ...body }) => {
      await get(tenant, queue)
      return queues.change(tenant, queue, { ...name !== undefined && { name },
        body: queueFields(body) })
    },
    delete: async (tenant, queue) => {
      await get(tenant, queue)
      await removals.remove('queue', tenant, queue)
    },
    add: async (tenant, queue, runs) => {
      const places = firstPlaces(await query().locate({ tenant, ids: [...new Set(runs)] }))
      return items.addItems(tenant, queue,
        [...places.values()].map(({ id, project, trace, startUs }) => ({
          subject: { type: 'RUN', project, run: id, trace },
          startUs,
        })))
    },
  }
}
