/**
 * Operations on items of the store, as a caller may do them. A handler may change namespaces, keys
 * and filters. Its filter is tested on the value of an item with its namespace and its key.
 */

import { deleteItem, listNamespaces, putItem, searchItems } from '../../api/index.ts'
import type { DeleteItem, ListNamespaces, PutItem, ReadItem, SearchItems } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { isSeenItem } from '../../items/index.ts'
import type { Item } from '../../items/index.ts'
import { matchesMetadata, pageOfNamespaces } from '../../search/index.ts'
import type { FoundItem, Namespace } from '../../search/index.ts'
import { labelsIn } from '../operations/index.ts'
import type { Operations } from '../operations/index.ts'
import { checkerOf } from '../schema/validation.ts'
import type { Ask } from './ask.ts'
import type { Asking } from './asking.ts'

/** Items or namespaces that are looked through for one page, and that are read at once. */
const [lookedMax, atOnce] = [10_000, 500]

const check = { put: checkerOf(putItem.body), delete: checkerOf(deleteItem.body),
  search: checkerOf(searchItems.body), list: checkerOf(listNamespaces.body) } as const

/** Operations on items. Each asks the login of its caller first, if there is one. */
export class AllowedStore {
  readonly #store: Operations['store']
  readonly #ask: Ask

  constructor(store: Operations['store'], ask: Ask) {
    this.#store = store
    this.#ask = ask
  }

  /** Throws `forbidden` for an item that the caller would not see, `not_found` for one unseen. */
  async put(caller: Asking, request: PutItem): Promise<void> {
    const { tenant, login } = caller
    if (login === undefined) return await this.#store.put(tenant, request)
    const { namespace, key, value } = request
    const asked = await this.#ask(caller, 'store:put', { namespace, key, value })
    const put = check.put({ ...request, ...asked.value })
    const { filter } = asked
    if (filter !== undefined) {
      if (!matchesMetadata(filter, { ...put.value, namespace: put.namespace, key: put.key })) {
        throw new HeddleError('forbidden', 'The login of this project does not allow this item.')
      }
      const before = await this.#store.get(tenant, { namespace: [...put.namespace], key: put.key })
      if (before !== null && !isSeenItem(filter, before)) {
        throw new HeddleError('not_found', 'There is no such item.')
      }
    }
    await this.#store.put(tenant, put, filter)
  }

  /** Null if there is none that the caller sees. */
  async get(caller: Asking, request: ReadItem): Promise<Item | null> {
    const { tenant, login } = caller
    if (login === undefined) return await this.#store.get(tenant, request)
    const { value, filter } = await this.#ask(caller, 'store:get', {
      namespace: labelsIn(request.namespace),
      key: request.key,
    })
    const { namespace, key } = check.delete({ namespace: value['namespace'], key: value['key'] })
    const item = await this.#store.get(tenant, { ...request, namespace: [...namespace ?? []], key })
    return item !== null && filter !== undefined && !isSeenItem(filter, item) ? null : item
  }

  /** Does nothing for an item that the caller does not see, as for one that is not there. */
  async delete(caller: Asking, request: DeleteItem): Promise<void> {
    const { tenant, login } = caller
    if (login === undefined) return await this.#store.delete(tenant, request)
    const { value, filter } = await this.#ask(caller, 'store:delete', {
      namespace: request.namespace ?? [],
      key: request.key,
    })
    const { namespace, key } = check.delete({ namespace: value['namespace'], key: value['key'] })
    if (filter !== undefined) {
      const item = await this.#store.get(tenant, { namespace: [...namespace ?? []], key })
      if (item === null || !isSeenItem(filter, item)) return
    }
    await this.#store.delete(tenant, { namespace, key }, filter)
  }

  async search(caller: Asking, request: SearchItems,
    cancelled?: AbortSignal): Promise<readonly FoundItem[]> {
    const { tenant, login } = caller
    if (login === undefined) return await this.#store.search(tenant, request, cancelled)
    const { namespace_prefix, filter: conditions, limit = 10, offset = 0, query } = request
    const { value, filter } = await this.#ask(caller, 'store:search', {
      namespace: namespace_prefix ?? [],
      filter: conditions,
      limit,
      offset,
      query,
    })
    const asked = check.search({ ...request, namespace_prefix: value['namespace'],
      filter: value['filter'] })
    if (filter === undefined) return await this.#store.search(tenant, asked, cancelled)
    const read = async (from: number) =>
      await this.#store.search(tenant, { ...asked, limit: atOnce, offset: from,
        refresh_ttl: false }, cancelled)
    const seen = await seenOf(read, ({ row }) => isSeenItem(filter, row), offset + limit)
    return seen.slice(offset, offset + limit)
  }

  /** Of the members of an item, a filter is tested on its namespace alone. */
  async namespaces(caller: Asking, request: ListNamespaces,
    cancelled?: AbortSignal): Promise<readonly Namespace[]> {
    const { tenant, login } = caller
    if (login === undefined) return await this.#store.namespaces(tenant, request, cancelled)
    const { prefix, suffix, max_depth: depth, limit = 100, offset = 0 } = request
    const { value, filter } = await this.#ask(caller, 'store:list_namespaces', {
      namespace: prefix ?? [],
      suffix,
      max_depth: depth,
      limit,
      offset,
    })
    const asked = check.list({ ...request, prefix: value['namespace'] })
    if (filter === undefined) return await this.#store.namespaces(tenant, asked, cancelled)
    const { max_depth: _, ...whole } = asked
    const read = async (from: number) =>
      await this.#store.namespaces(tenant, { ...whole, limit: atOnce, offset: from }, cancelled)
    const seen = await seenOf(read, (namespace) => matchesMetadata(filter, { namespace }), Infinity)
    return pageOfNamespaces(seen, { tenant, conditions: [], nowMs: 0, limit, offset,
      ...depth != null && { maxDepth: depth } })
  }
}

/** The first ones that are seen, at least as many as are needed if there are. */
async function seenOf<Found>(read: (offset: number) => Promise<readonly Found[]>,
  sees: (found: Found) => boolean, needed: number): Promise<Found[]> {
  const seen: Found[] = []
  for (let offset = 0;; offset += atOnce) {
    const page = await read(offset)
    seen.push(...page.filter(sees))
    if (page.length < atOnce || seen.length >= needed) return seen
    if (offset + atOnce >= lookedMax) {
      throw new HeddleError('too_large', `More than ${lookedMax} have to be looked through for ` +
        'this page: name a longer namespace.')
    }
  }
}
