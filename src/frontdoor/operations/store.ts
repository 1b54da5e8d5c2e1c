/** Operations on items of the store, the same for every wire. */

import type { DeleteItem, ListNamespaces, PutItem, ReadItem, SearchItems } from '../../api/index.ts'
import { fault } from '../../items/index.ts'
import type { Item, ItemStore } from '../../items/index.ts'
import type { Quotas } from '../../limits/index.ts'
import type { FoundItem, MetadataFilter, Namespace } from '../../search/index.ts'

/** The part of `OperationParts` that operations on items use. */
export interface StoreOperationParts {
  readonly items: ItemStore
  readonly quotas: Pick<Quotas, 'within'>
}

/** Operations on items of the store. */
export class StoreOperations {
  readonly #items: ItemStore
  readonly #quotas: Pick<Quotas, 'within'>

  constructor({ items, quotas }: StoreOperationParts) {
    this.#items = items
    this.#quotas = quotas
  }

  async put(tenant: string, { value, ...item }: PutItem, allowed?: MetadataFilter): Promise<void> {
    const valueJson = JSON.stringify(value)
    await this.#quotas.within(tenant, {},
      () => this.#items.put(tenant, { ...item, valueJson }, allowed))
  }

  /** Null if there is none. */
  get(tenant: string, { namespace, key, refresh_ttl: refresh }: ReadItem): Promise<Item | null> {
    return this.#items.get(tenant, { namespace: labelsIn(namespace), key }, refresh ?? undefined)
  }

  delete(tenant: string, { namespace, key }: DeleteItem, allowed?: MetadataFilter): Promise<void> {
    return this.#items.delete(tenant, { namespace: namespace ?? [], key }, allowed)
  }

  search(tenant: string, request: SearchItems,
    cancelled?: AbortSignal): Promise<readonly FoundItem[]> {
    const { namespace_prefix, filter, q, query, limit = 10, offset = 0, refresh_ttl } = request
    return this.#items.search(tenant, {
      prefix: namespace_prefix ?? [],
      filter: filter ?? undefined,
      words: wordsIn(q),
      query: query ?? undefined,
      refresh: refresh_ttl ?? undefined,
      limit,
      offset,
    }, cancelled)
  }

  namespaces(tenant: string, request: ListNamespaces,
    cancelled?: AbortSignal): Promise<readonly Namespace[]> {
    const { prefix, suffix, max_depth: maxDepth, limit = 100, offset = 0 } = request
    const conditions = [
      ...prefix ? [{ matchType: 'prefix', path: prefix } as const] : [],
      ...suffix ? [{ matchType: 'suffix', path: suffix } as const] : [],
    ]
    return this.#items.namespaces(tenant, { conditions, maxDepth: maxDepth ?? undefined, limit,
      offset }, cancelled)
  }
}

/** The words of a text; undefined if it has none. */
function wordsIn(text: string | null | undefined): readonly string[] | undefined {
  const words = text?.split(/\s+/u).filter((word) => word !== '') ?? []
  return words.length === 0 ? undefined : words
}

/** Reads a namespace in a query: labels that are joined in one text, or one label each time. */
export function labelsIn(given: unknown): readonly string[] {
  if (given === undefined) return []
  if (typeof given === 'string') return given.split('.')
  if (Array.isArray(given)) return given as string[]
  throw fault('namespace', 'must be a string')
}
