/** The annotation queues of tenants: records of a catalog, and their items as documents. */

import type { Env } from '../../../../cluster/index.ts'
import type { QueueBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { namedId } from '../catalog/named-id.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import { collection } from '../catalog/collection.ts'
import type { RecordQuery } from '../catalog/record-query.ts'
import type { DocumentPlace, DocumentPort } from '../../spans/document-port.ts'
import type { Calls } from '../../calls/calls.ts'
import type { SpanPlace, Uuid } from '../../spans/span.ts'
import { changeKey, documentOf, itemId, itemsOf, queueItemsMax, runItemId,
  statusKey } from './queue-item.ts'
import type { ItemChange, ReviewerStatus, ReviewRules, StoredItem, Subject } from './queue-item.ts'
import { itemBytes, queueFields, queueOf } from './queue.ts'
import type { Queue } from './queue.ts'
import type { ItemsPage, ItemsQuestion, ItemView, QueueReads } from './queue-reads.ts'

/** Choice of queues to list. */
export interface QueueQuery
  extends
    Pick<RecordQuery,
      'ids' | 'name' | 'nameContains' | 'sortBy' | 'descending' | 'limit' | 'offset'> {
  /** Dataset that the items of the listed queues go to. */
  readonly dataset?: Uuid
}

/** An item before it is added. */
export interface NewItem {
  readonly subject: Subject
  readonly startUs?: number | null
  readonly source?: Uuid | null
}

/** An item that was added, or was there before. */
export interface AddedItem extends StoredItem {
  readonly id: Uuid
}

/** Annotation queues. All methods throw HeddleError; `not_found` for what does not exist. */
export interface Queues {
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
  /** Adds the items that are not there yet. `full` if there are too many. */
  addItems(tenant: string, queue: Uuid, items: readonly NewItem[]): Promise<readonly AddedItem[]>
  items(tenant: string, queue: Queue,
    question: Omit<ItemsQuestion, 'tenant' | 'queue' | 'rules' | 'nowMs'>): Promise<ItemsPage>
  /** One item, by its id or the id of its run. */
  item(tenant: string, queue: Queue, reviewer: Uuid, id: Uuid): Promise<ItemView>
  change(tenant: string, queue: Uuid, item: Uuid, change: ItemChange): Promise<void>
  /** Sets the status of an item for a reviewer. Returns the queue of the item. */
  setStatus(tenant: string, item: Uuid, reviewer: Uuid,
    status: Omit<ReviewerStatus, 'atMs'>): Promise<Queue>
  /** Removes items by their ids or those of their runs. All items for `all` but those named. */
  remove(tenant: string, queue: Uuid, ids: readonly Uuid[], all?: boolean): Promise<void>
  /** The queues that a run is in. */
  queuesWith(tenant: string, run: Uuid): Promise<readonly Queue[]>
}

/** Stores and calls that queues need. */
export interface QueueParts {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  readonly query: () => Calls<QueueReads> & {
    locate(
      question: { readonly tenant: string; readonly ids: readonly Uuid[] },
    ): Promise<readonly SpanPlace[]>
  }
  readonly env: Pick<Env, 'nowMs' | 'uuid'>
}

/** Queues of a tenant. The bound exists because a search for an item asks all of them. */
const queuesMax = 200

/** The id of a reviewer, by what identifies the caller. */
export function reviewerId(identity: readonly string[]): Uuid {
  return namedId('reviewer', JSON.stringify(identity))
}

/** The queues of tenants, kept in catalogs and documents. */
export function queuesOver({ catalogs, documents, query, env }: QueueParts): Queues {
  const queues = collection(catalogs, env, { name: 'queue', parse: queueOf,
    missing: () => 'There is no such annotation queue.',
    max: { count: queuesMax, full: `There may be ${queuesMax} annotation queues. Delete some.` } })
  const { get, all } = queues
  const placeOf = (tenant: string, owner: Uuid): DocumentPlace => ({ tenant, kind: 'queue_run',
    owner })

  const items = (tenant: string, queue: Queue,
    question: Omit<ItemsQuestion, 'tenant' | 'queue' | 'rules' | 'nowMs'>) =>
    query().queueItems({ ...question, tenant, queue: queue.id, rules: rulesOf(queue),
      nowMs: env.nowMs() })

  const count = (tenant: string, queue: Uuid, added: number) =>
    queues.change(tenant, queue, { heldBytesAdded: added * itemBytes })

  const addItems = async (tenant: string, queue: Uuid, added: readonly NewItem[]) => {
    const own = await get(tenant, queue)
    const wanted = new Map(added.map((item) => [itemId(queue, item.subject), item]))
    const before = await documents.getDocuments(placeOf(tenant, queue), [...wanted.keys()])
    const known = new Map(itemsOf(before).map((item) => [item.id, item]))
    const nowMs = env.nowMs()
    const fresh = [...wanted].filter(([id]) => !known.has(id)).map(([id, item]): AddedItem => ({
      id,
      subject: item.subject,
      addedMs: nowMs,
      startUs: item.startUs ?? null,
      source: item.source ?? null,
    }))
    if (fresh.length > 0) {
      if (own.items + fresh.length > queueItemsMax) {
        throw new HeddleError('full', `A queue may hold ${queueItemsMax} items. Remove some.`)
      }
      await count(tenant, queue, fresh.length)
    }
    await documents.putDocuments(placeOf(tenant, queue),
      fresh.map(({ id, ...item }) => documentOf(id, item)))
    const made = new Map(fresh.map((item) => [item.id, item]))
    return [...wanted.keys()].map((id): AddedItem => made.get(id) ?? known.get(id)!)
  }

  /** The ids of items that exist, from ids of items or of runs. */
  const known = async (tenant: string, queue: Uuid, ids: readonly Uuid[]) => {
    const asked = ids.flatMap((id) => [id, runItemId(queue, id)])
      .map((item) => ({ queue, item }))
    return (await query().knownItems({ tenant, items: asked })).map(({ item }) => item)
  }

  return {
    get,
    addItems,
    items,
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
      await queues.delete(tenant, queue)
      await documents.dropDocuments(placeOf(tenant, queue))
    },
    add: async (tenant, queue, runs) => {
      const places = await query().locate({ tenant, ids: [...new Set(runs)] })
      return addItems(tenant, queue, places.map(({ id, project, trace, startUs }) => ({
        subject: { type: 'RUN', project, run: id, trace },
        startUs,
      })))
    },
    item: async (tenant, queue, reviewer, id) => {
      const [item] = await known(tenant, queue.id, [id])
      if (item === undefined) throw noItem()
      const { items: [one] } = await items(tenant, queue, { reviewer, ids: [item], offset: 0,
        limit: 1 })
      if (one === undefined) throw noItem()
      return one
    },
    change: async (tenant, queue, id, change) => {
      const [item] = await known(tenant, queue, [id])
      if (item === undefined) throw noItem()
      const [before] = await documents.getDocuments(placeOf(tenant, queue), [changeKey(item)])
      const kept = before === undefined
        ? {}
        : JSON.parse(Buffer.from(before.body).toString()) as ItemChange
      await documents.putDocuments(placeOf(tenant, queue), [
        documentOf(changeKey(item), { ...kept, ...change }),
      ])
    },
    setStatus: async (tenant, item, reviewer, status) => {
      const own = await all(tenant)
      const [found] = await query().knownItems({ tenant,
        items: own.map(({ id }) => ({ queue: id, item })) })
      const queue = own.find(({ id }) => id === found?.queue)
      if (queue === undefined) throw noItem()
      await documents.putDocuments(placeOf(tenant, queue.id), [
        documentOf(statusKey(item, reviewer), {
          ...status,
          atMs: env.nowMs(),
        }),
      ])
      return queue
    },
    remove: async (tenant, queue, ids, isAll = false) => {
      await get(tenant, queue)
      const named = await known(tenant, queue, ids)
      if (named.length === 0 && !isAll) throw noItem()
      const keys = await query().itemKeys({ tenant, queue,
        ...isAll ? { except: named } : { items: named } })
      await documents.deleteDocuments(placeOf(tenant, queue), keys)
      await count(tenant, queue, -keys.filter((key) => !key.includes('/')).length)
    },
    queuesWith: async (tenant, run) => {
      const own = await all(tenant)
      const found = await query().knownItems({ tenant,
        items: own.map(({ id }) => ({ queue: id, item: runItemId(id, run) })) })
      const ids = new Set(found.map(({ queue }) => queue))
      return own.filter(({ id }) => ids.has(id))
    },
  }
}

/** The rules of a queue. */
function rulesOf(queue: Queue): ReviewRules {
  const { num_reviewers_per_item: reviewers, enable_reservations: isReserved,
    reservation_minutes: minutes } = queue
  return { reviewers: reviewers ?? 1, reservedMs: isReserved ? (minutes ?? 1) * 60_000 : 0 }
}

function noItem(): HeddleError {
  return new HeddleError('not_found', 'The annotation queue has no such item.')
}
