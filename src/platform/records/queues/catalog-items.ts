/** Items of annotation queues: documents beside the record of their queue. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { CautiousClock } from '../../../limits/index.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { Records } from '../catalog/collection.ts'
import type { DocumentPlace, DocumentPort } from '../../spans/document-port.ts'
import type { Calls } from '../../calls/calls.ts'
import type { SpanPlace, Uuid } from '../../spans/span.ts'
import { changeKey, documentOf, itemId, itemsOf, queueItemsMax, runItemId,
  statusKey } from './queue-item.ts'
import type { ItemChange, ReviewerStatus, ReviewRules, StoredItem, Subject } from './queue-item.ts'
import { itemBytes } from './queue.ts'
import type { Queue } from './queue.ts'
import type { ItemsPage, ItemsQuestion, ItemView, QueueReads } from './queue-reads.ts'

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

/** Items of queues. All methods throw HeddleError; `not_found` for what does not exist. */
export interface QueueItems {
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
  readonly env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>
}

/** The records of queues that items need. */
type QueueRecords = Pick<Records<Queue>, 'get' | 'all' | 'change'>

/** Place of the documents of a queue. */
export function itemsPlace(tenant: string, queue: Uuid): DocumentPlace {
  return { tenant, kind: 'queue_run', owner: queue }
}

/** Dependencies with the clock by which reservations expire. */
interface TimedParts extends QueueParts {
  readonly cautiousNowMs: CautiousClock
}

/** The items of the queues with these records. */
export function queueItems(parts: QueueParts, queues: QueueRecords): QueueItems {
  const timed = { ...parts, cautiousNowMs: cautiousClock(parts.env) }
  return { ...itemReads(timed, queues), ...itemWrites(timed, queues) }
}

function itemReads({ query, cautiousNowMs }: TimedParts,
  { all }: QueueRecords): Pick<QueueItems, 'items' | 'item' | 'queuesWith'> {
  const items: QueueItems['items'] = (tenant, queue, question) =>
    query().queueItems({ ...question, tenant, queue: queue.id, rules: rulesOf(queue),
      nowMs: cautiousNowMs() })
  return {
    items,
    item: async (tenant, queue, reviewer, id) => {
      const [item] = await knownItems(query(), tenant, queue.id, [id])
      if (item === undefined) throw noItem()
      const { items: [one] } = await items(tenant, queue, { reviewer, ids: [item], offset: 0,
        limit: 1 })
      if (one === undefined) throw noItem()
      return one
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

function itemWrites({ documents, query, env, cautiousNowMs }: TimedParts,
  queues: QueueRecords): Pick<QueueItems, 'addItems' | 'change' | 'setStatus' | 'remove'> {
  const count = (tenant: string, queue: Uuid, added: number) =>
    queues.change(tenant, queue, { heldBytesAdded: added * itemBytes })
  return {
    addItems: async (tenant, queue, added) => {
      const { items: held } = await queues.get(tenant, queue)
      const wanted = new Map(added.map((item) => [itemId(queue, item.subject), item]))
      const before = await documents.getDocuments(itemsPlace(tenant, queue), [...wanted.keys()])
      const known = new Map(itemsOf(before).map((item) => [item.id, item]))
      const nowMs = env.nowMs()
      const fresh = [...wanted].filter(([id]) => !known.has(id))
        .map(([id, item]) => addedItem(id, item, nowMs))
      if (fresh.length > 0) {
        if (held + fresh.length > queueItemsMax) {
          throw new HeddleError('full', `A queue may hold ${queueItemsMax} items. Remove some.`)
        }
        await count(tenant, queue, fresh.length)
      }
      await documents.putDocuments(itemsPlace(tenant, queue),
        fresh.map(({ id, ...item }) => documentOf(id, item)))
      const made = new Map(fresh.map((item) => [item.id, item]))
      return [...wanted.keys()].map((id): AddedItem => made.get(id) ?? known.get(id)!)
    },
    change: async (tenant, queue, id, change) => {
      const [item] = await knownItems(query(), tenant, queue, [id])
      if (item === undefined) throw noItem()
      const place = itemsPlace(tenant, queue)
      const [before] = await documents.getDocuments(place, [changeKey(item)])
      const kept = before === undefined
        ? {}
        : JSON.parse(Buffer.from(before.body).toString()) as ItemChange
      await documents.putDocuments(place, [documentOf(changeKey(item), { ...kept, ...change })])
    },
    setStatus: async (tenant, item, reviewer, status) => {
      const own = await queues.all(tenant)
      const [found] = await query().knownItems({ tenant,
        items: own.map(({ id }) => ({ queue: id, item })) })
      const queue = own.find(({ id }) => id === found?.queue)
      if (queue === undefined) throw noItem()
      const atMs = status.status === 'viewed' ? cautiousNowMs() : env.nowMs()
      await documents.putDocuments(itemsPlace(tenant, queue.id), [
        documentOf(statusKey(item, reviewer), { ...status, atMs }),
      ])
      return queue
    },
    remove: async (tenant, queue, ids, isAll = false) => {
      await queues.get(tenant, queue)
      const named = await knownItems(query(), tenant, queue, ids)
      if (named.length === 0 && !isAll) throw noItem()
      const keys = await query().itemKeys({ tenant, queue,
        ...isAll ? { except: named } : { items: named } })
      await documents.deleteDocuments(itemsPlace(tenant, queue), keys)
      await count(tenant, queue, -keys.filter((key) => !key.includes('/')).length)
    },
  }
}

/** The ids of items that exist, from ids of items or of runs. */
async function knownItems(query: Pick<Calls<QueueReads>, 'knownItems'>, tenant: string, queue: Uuid,
  ids: readonly Uuid[]): Promise<readonly Uuid[]> {
  const asked = ids.flatMap((id) => [id, runItemId(queue, id)]).map((item) => ({ queue, item }))
  return (await query.knownItems({ tenant, items: asked })).map(({ item }) => item)
}

function addedItem(id: Uuid, { subject, startUs = null, source = null }: NewItem,
  addedMs: number): AddedItem {
  return { id, subject, addedMs, startUs, source }
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
