/** Long-term memory as the API and graphs see it, whichever members own the items. */

import type { Env, Router } from '../../cluster/index.ts'
import { asUnread } from '../errors.ts'
import type { ReadQuota } from '../limits/index.ts'
import { itemId, pageBytes } from '../search/index.ts'
import type { FoundItem, ItemSearch, MetadataFilter, Namespace } from '../search/index.ts'
import { itemKindName } from './item-actor.ts'
import type { ItemCommand } from './item-actor.ts'
import { doBatch } from './item-batch.ts'
import type { ItemOperation, ItemResult } from './item-operation.ts'
import type { ListNamespaces, PutItem, SearchItems } from './item-request.ts'
import { requireFilterFits, requireKey, requireLabels, requireNamespace,
  requireValueFits } from './item-rules.ts'
import { noVectors, vectorOf, vectorsOf } from './item-vectors.ts'
import type { ItemVectors, VectorIndex } from './item-vectors.ts'
import type { Item, ItemPlace } from './item.ts'

/** Settings of the project for its items. */
export interface ItemSettings {
  /** Undefined if nothing is found by meaning. */
  readonly index?: VectorIndex | undefined
  /** Time to live of items that are put without one; 0 for no end. */
  readonly ttlMs: number
  /** True if reads move the end of what they find, unless they say otherwise. */
  readonly refreshOnRead: boolean
  /** Time between two sweeps of what has ended; undefined for the usual time. */
  readonly sweepMs?: number | undefined
}

/** Parts of a member that its store uses. */
export interface ItemStoreParts {
  readonly router: Pick<Router, 'ask'>
  readonly search: ItemSearch
  /** The memory that reads share. */
  readonly reads: Pick<ReadQuota, 'read'>
  readonly env: Pick<Env, 'nowMs'>
  /** They may change when the project is reloaded or deployed. */
  settings(tenant: string): ItemSettings
}

const minuteMs = 60_000
/** Times to live above a hundred years count as none. */
const ttlMaxMs = 100 * 365 * 24 * 60 * minuteMs

/** Reads and writes items. Everything of a tenant is seen by that tenant only. */
export class ItemStore {
  readonly #parts: ItemStoreParts

  constructor(parts: ItemStoreParts) {
    this.#parts = parts
  }

  /**
   * Resolves when the item is durable. Throws before anything is written if it cannot be, and
   * `not_found` if there is an item that `allowed` does not match.
   */
  async put(tenant: string, item: PutItem, allowed?: MetadataFilter): Promise<void> {
    const { namespace, key, valueJson, ttl } = item
    requireNamespace(namespace)
    requireKey(key)
    requireValueFits(valueJson)
    const ttlMs = ttl === undefined ? this.#parts.settings(tenant).ttlMs : (ttl ?? 0) * minuteMs
    const place = { namespace, key }
    const content = { valueJson, ttlMs: Math.min(Math.ceil(ttlMs), ttlMaxMs),
      ...await this.#vectors(tenant, item) }
    await this.#ask(tenant, place, { kind: 'put', place, content, ...allowed && { allowed } })
  }

  /** Null if there is none. */
  async get(tenant: string, place: ItemPlace, refresh?: boolean): Promise<Item | null> {
    requireLabels('namespace', place.namespace)
    requireKey(place.key)
    const command = { kind: 'get', refresh: this.#refreshes(tenant, refresh) } as const
    return await this.#ask(tenant, place, command).catch(asUnread) as Item | null
  }

  /** Does nothing if there is none, or none that `allowed` matches. */
  async delete(tenant: string, { namespace, key }: ItemPlace,
    allowed?: MetadataFilter): Promise<void> {
    requireLabels('namespace', namespace)
    requireKey(key)
    const place = { namespace, key }
    await this.#ask(tenant, place, { kind: 'delete', place, ...allowed && { allowed } })
  }

  /** A page: the newest first, or the nearest to `query`. */
  async search(tenant: string, request: SearchItems,
    cancelled?: AbortSignal): Promise<readonly FoundItem[]> {
    const { prefix, filter, words, limit, offset, query, refresh } = request
    requireLabels('namespace_prefix', prefix)
    requireFilterFits(filter)
    const { index } = this.#parts.settings(tenant)
    const vector = query && index ? await vectorOf(index, query) : undefined
    const sought = { tenant, prefix, limit, offset, nowMs: this.#parts.env.nowMs(),
      ...filter && { filter }, ...words && { words }, ...vector && { vector } }
    const { rows } = await this.#parts.reads.read({ tenant, bytes: pageBytes, cancelled },
      ({ left: bytes }) => this.#parts.search.search({ ...sought, bytes }, cancelled))
    if (this.#refreshes(tenant, refresh)) await this.#refresh(tenant, rows)
    return rows
  }

  async namespaces(tenant: string, { conditions, maxDepth, limit, offset }: ListNamespaces,
    cancelled?: AbortSignal): Promise<readonly Namespace[]> {
    for (const { matchType, path } of conditions) requireLabels(matchType, path)
    return this.#parts.search.namespaces({ tenant, conditions, limit, offset,
      nowMs: this.#parts.env.nowMs(), ...maxDepth !== undefined && { maxDepth } }, cancelled)
  }

  /** The results of operations, in their order. */
  batch(tenant: string, operations: readonly ItemOperation[]): Promise<ItemResult[]> {
    return doBatch(this, tenant, operations)
  }

  async #vectors(tenant: string, { valueJson, index }: PutItem): Promise<ItemVectors> {
    const settings = this.#parts.settings(tenant)
    if (settings.index === undefined || index === false) return noVectors
    return vectorsOf(settings.index, JSON.parse(valueJson), index ?? undefined)
  }

  #refreshes(tenant: string, refresh: boolean | undefined): boolean {
    return refresh ?? this.#parts.settings(tenant).refreshOnRead
  }

  async #refresh(tenant: string, rows: readonly FoundItem[]): Promise<void> {
    const ending = rows.filter(({ row }) => row.ttlMs > 0)
    await Promise.all(ending.map(({ row }) => this.#ask(tenant, row, { kind: 'refresh' })))
  }

  #ask(tenant: string, { namespace, key }: ItemPlace, command: ItemCommand): Promise<unknown> {
    const id = itemId(namespace, key)
    return this.#parts.router.ask({ kind: itemKindName, tenant, id }, command)
  }
}
