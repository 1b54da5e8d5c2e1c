/** Searches items in slices: by namespace and value, the newest first, or the nearest first. */

import { ItemRow } from '../../../../proto/gen/storage/v1/row.ts'
import { passes } from '../../../search/index.ts'
import type { FoundItem, ItemQuery } from '../../../search/index.ts'
import { PageBytes } from '../../page-bytes.ts'
import type { Database, Statement } from '../file/database.ts'
import { below, rangeOf } from '../tables/item-table.ts'
import { Slice } from './search-slice.ts'
import type { UnlistedShards } from './unlisted-shards.ts'

/** An item that was found, encoded: it passes between two threads. */
export interface EncodedItem {
  readonly body: Uint8Array
  readonly score?: number | undefined
}

type Body = readonly [body: Uint8Array]

/** Searches on one connection. Each search has its own. */
export class ItemSearch {
  readonly #database: Database
  readonly #unlisted: UnlistedShards | undefined
  readonly #body: Statement<Body>

  constructor(database: Database, unlisted?: UnlistedShards) {
    this.#database = database
    this.#unlisted = unlisted
    this.#body = database.prepare('SELECT body FROM item WHERE rowid = ?')
  }

  /** Yields after each slice. A search ends with the last item of its page. */
  *search(query: ItemQuery): Generator<void, EncodedItem[], void> {
    const { filter, offset, limit } = query
    const page: EncodedItem[] = []
    const bytes = new PageBytes(query.bytes)
    const slice = new Slice()
    let skipped = 0
    for (const [no] of this.#candidates(query)) {
      if (filter === undefined && skipped < offset) {
        skipped++
        continue
      }
      const [body] = this.#body.get(no)!
      const { valueJson } = ItemRow.decode(body)
      if (filter !== undefined && !passes(JSON.parse(valueJson), filter)) {
        if (slice.ends(valueJson)) yield
        continue
      }
      if (skipped++ < offset) continue
      bytes.add(body)
      if (page.push({ body }) === limit) break
      if (slice.ends(valueJson)) yield
    }
    return page
  }

  /** Living items below the prefix, the newest first. Only the index is read. */
  #candidates({ tenant, prefix, nowMs }: ItemQuery): Iterable<readonly [no: number]> {
    return this.#database.prepare<readonly [no: number]>(
      `SELECT rowid FROM item INDEXED BY item_order WHERE ${below(prefix)}
        AND (expires_at = 0 OR expires_at > :now)
        ${this.#unlisted?.condition('item.rowid') ?? ''}
        ORDER BY updated_at DESC, namespace, key`,
    ).iterate({ tenant, ...rangeOf(prefix), now: nowMs })
  }
}

/** The item in these bytes. */
export function foundItem({ body, score }: EncodedItem): FoundItem {
  return { row: ItemRow.decode(body), score }
}
