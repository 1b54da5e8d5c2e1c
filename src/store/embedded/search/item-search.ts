/** Searches items in slices: by namespace and value, the newest first, or the nearest first. */

import { ItemRow } from '../../../../proto/gen/storage/v1/row.ts'
import { isAlive, namespaceText, passes } from '../../../search/index.ts'
import type { FoundItem, ItemQuery } from '../../../search/index.ts'
import { PageBytes } from '../../page-bytes.ts'
import type { Database, Statement } from '../file/database.ts'
import { below, rangeOf } from './namespace-range.ts'
import { Slice } from './search-slice.ts'
import type { UnlistedShards } from './unlisted-shards.ts'
import { bestCosine, unit } from './vector-cache.ts'
import type { CachedItem, VectorCache } from './vector-cache.ts'

/** An item that was found, encoded: it passes between two threads. */
export interface EncodedItem {
  readonly body: Uint8Array
  readonly score?: number | undefined
}

interface Candidate {
  readonly no: number
  readonly score?: number
}

interface Scored extends Candidate {
  readonly item: CachedItem
  readonly score: number
}

/** Items that are compared before other searches have their turn: some milliseconds. */
const comparedAtOnce = 8_192

/** Searches on one connection. Each search has its own; the cache is of all. */
export class ItemSearch {
  readonly #database: Database
  readonly #cache: VectorCache
  readonly #unlisted: UnlistedShards | undefined
  readonly #body: Statement<readonly [body: Uint8Array]>

  constructor(database: Database, cache: VectorCache, unlisted?: UnlistedShards) {
    this.#database = database
    this.#cache = cache
    this.#unlisted = unlisted
    this.#body = database.prepare('SELECT body FROM item WHERE no = ?')
  }

  /** Yields after each slice. A search ends with the last item of its page. */
  *search(query: ItemQuery): Generator<void, EncodedItem[], void> {
    if (query.vector === undefined) return yield* this.#page(query, this.#newest(query))
    const scored = yield* this.#nearest(query, query.vector)
    return yield* this.#page(query, this.#withRest(query, scored))
  }

  /** The page of the candidates that pass the filter. */
  *#page({ filter, offset, limit, bytes: most }: ItemQuery,
    candidates: Iterable<Candidate>): Generator<void, EncodedItem[], void> {
    const page: EncodedItem[] = []
    const bytes = new PageBytes(most)
    const slice = new Slice()
    let skipped = 0
    for (const { no, score } of candidates) {
      if (filter === undefined && skipped < offset) {
        skipped++
        continue
      }
      const [body] = this.#body.get(no) ?? []
      // The cache may be newer than what this connection sees.
      if (body === undefined) continue
      const { valueJson } = ItemRow.decode(body)
      const isWanted = filter === undefined || passes(JSON.parse(valueJson), filter)
      if (isWanted && skipped++ >= offset) {
        bytes.add(body)
        if (page.push({ body, score }) === limit) break
      }
      if (slice.ends(valueJson)) yield
    }
    return page
  }

  /** Living items below the prefix, the newest first. Only the index is read. */
  *#newest({ tenant, prefix, nowMs }: ItemQuery): Generator<Candidate, void, void> {
    const all = this.#database.prepare<readonly [no: number]>(
      `SELECT no FROM item INDEXED BY item_order WHERE ${below(prefix)}
        AND (expires_at = 0 OR expires_at > :now)
        ${this.#unlisted?.condition('no') ?? ''}
        ORDER BY updated_at DESC, namespace, key`,
    )
    for (const [no] of all.iterate({ tenant, ...rangeOf(prefix), now: nowMs })) yield { no }
  }

  /** The nearest items first, then those that cannot be compared. */
  *#withRest(query: ItemQuery, scored: readonly Scored[]): Generator<Candidate, void, void> {
    yield* scored
    const compared = new Set(scored.map(({ no }) => no))
    for (const each of this.#newest(query)) if (!compared.has(each.no)) yield each
  }

  /** All living items that can be compared. Those with vectors of another length cannot. */
  *#nearest({ tenant, prefix, nowMs }: ItemQuery,
    vector: readonly number[]): Generator<void, readonly Scored[], void> {
    const query = unit(vector)
    const items = yield* this.#cache.of(this.#database, tenant, namespaceText(prefix))
    const scored: Scored[] = []
    let compared = 0
    for (const item of items) {
      if (item.dims !== query.length || !isAlive(item, nowMs)) continue
      if (this.#unlisted?.hides(item.no) === true) continue
      scored.push({ item, no: item.no, score: bestCosine(item, query) })
      if (++compared % comparedAtOnce === 0) yield
    }
    return scored.sort(nearestFirst)
  }
}

function nearestFirst(one: Scored, other: Scored): number {
  return other.score - one.score || other.item.updatedAtMs - one.item.updatedAtMs
    || inBytes(one.item.namespace, other.item.namespace) || inBytes(one.item.key, other.item.key)
}

function inBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** The item in these bytes. */
export function foundItem({ body, score }: EncodedItem): FoundItem {
  return { row: ItemRow.decode(body), score }
}
