/** Searches items in slices: by namespace and value, the newest first, or the nearest first. */

import { ItemRow } from '../../../../proto/gen/storage/v1/row.ts'
import { hasWords, isAlive, namespaceText, passes } from '../../../search/index.ts'
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

/** Items that were compared with a query. Scores belong to the items at the same place. */
interface Compared {
  readonly items: readonly CachedItem[]
  readonly scores: readonly number[]
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
    const compared = yield* this.#compared(query, query.vector)
    return yield* this.#page(query, this.#withRest(query, compared))
  }

  /** The page of the candidates that pass the filter. */
  *#page(query: ItemQuery, candidates: Iterable<Candidate>): Generator<void, EncodedItem[], void> {
    const { offset, limit, bytes: most } = query
    const page: EncodedItem[] = []
    const bytes = new PageBytes(most)
    const slice = new Slice()
    let skipped = 0
    for (const { no, score } of candidates) {
      if (takesAll(query) && skipped < offset) {
        skipped++
        continue
      }
      const [body] = this.#body.get(no) ?? []
      // The cache may be newer than what this connection sees.
      if (body === undefined) continue
      const row = ItemRow.decode(body)
      if (isWanted(row, query) && skipped++ >= offset) {
        bytes.add(body)
        if (page.push({ body, score }) === limit) break
      }
      if (slice.ends(row.valueJson)) yield
    }
    return page
  }

  /** Living items below the prefix, the newest first. Only an index is read. */
  *#newest(query: ItemQuery): Generator<Candidate, void, void> {
    const { tenant, prefix, nowMs, vector, offset, limit } = query
    const index = prefix.length === 0 ? 'item_newest' : 'item_order'
    // With a bound, sorting keeps few rows.
    const isBounded = takesAll(query) && vector === undefined
    const all = this.#database.prepare<readonly [no: number]>(
      `SELECT no FROM item INDEXED BY ${index} WHERE ${below(prefix)}
        AND (expires_at = 0 OR expires_at > :now)
        ${this.#unlisted?.condition('no') ?? ''}
        ORDER BY updated_at DESC, namespace, key ${isBounded ? 'LIMIT :most' : ''}`,
    )
    const most = offset + limit
    for (const [no] of all.iterate({ tenant, ...rangeOf(prefix), now: nowMs, most })) yield { no }
  }

  /** The nearest items first, then those that cannot be compared. */
  *#withRest(query: ItemQuery, { items, scores }: Compared): Generator<Candidate, void, void> {
    const most = takesAll(query) ? query.offset + query.limit : items.length
    for (const at of nearest({ items, scores }, most)) {
      yield { no: items[at]!.no, score: scores[at]! }
    }
    const compared = new Set(items.map(({ no }) => no))
    for (const each of this.#newest(query)) if (!compared.has(each.no)) yield each
  }

  /** All living items that can be compared. Those with vectors of another length cannot. */
  *#compared({ tenant, prefix, nowMs }: ItemQuery,
    vector: readonly number[]): Generator<void, Compared, void> {
    const query = unit(vector)
    const cached = yield* this.#cache.of(this.#database, tenant, namespaceText(prefix))
    const items: CachedItem[] = []
    const scores: number[] = []
    for (const item of cached) {
      if (item.dims !== query.length || !isAlive(item, nowMs)) continue
      if (this.#unlisted?.hides(item.no) === true) continue
      scores.push(bestCosine(item, query))
      if (items.push(item) % comparedAtOnce === 0) yield
    }
    return { items, scores }
  }
}

/** True if no value has to be read to know whether an item is wanted. */
const takesAll = ({ filter, words }: ItemQuery): boolean =>
  filter === undefined && words === undefined

function isWanted(row: ItemRow, { filter, words }: ItemQuery): boolean {
  return (words === undefined || hasWords(row, words))
    && (filter === undefined || passes(JSON.parse(row.valueJson), filter))
}

/** Up to this many, it takes less to keep the best than to sort all. */
const keptMax = 1_000

/** The places of the nearest items, at most `most`. */
function nearest({ items, scores }: Compared, most: number): number[] {
  const before = (a: number, b: number) =>
    scores[b]! - scores[a]! || items[b]!.updatedAtMs - items[a]!.updatedAtMs
    || inBytes(items[a]!.namespace, items[b]!.namespace) || inBytes(items[a]!.key, items[b]!.key)
  if (most > keptMax) return [...items.keys()].sort(before).slice(0, most)
  const best: number[] = []
  for (let at = 0; at < items.length; at++) {
    if (best.length === most && before(at, best.at(-1)!) > 0) continue
    let place = best.length
    while (place > 0 && before(at, best[place - 1]!) < 0) place--
    best.splice(place, 0, at)
    if (best.length > most) best.pop()
  }
  return best
}

function inBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** The item in these bytes. */
export function foundItem({ body, score }: EncodedItem): FoundItem {
  return { row: ItemRow.decode(body), score }
}
