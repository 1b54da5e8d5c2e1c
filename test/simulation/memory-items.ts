/** The items in the local index of a simulated member: in memory, by shard. */

import { actorKeyText, shardOf } from '../../cluster/index.ts'
import { ItemRow } from '../../proto/gen/storage/v1/row.ts'
import type { RowUpdate } from '../../src/checkpoint/index.ts'
import { HeddleError } from '../../src/errors.ts'
import { itemId } from '../../src/search/index.ts'
import type { ItemName } from '../../src/search/index.ts'
import type { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'

interface ShardItems {
  readonly rows: Map<string, ItemRow>
  readonly loaded: PromiseWithResolvers<void>
}

export class MemoryItems {
  readonly #shards: number
  readonly #tenant: string
  readonly #owned = new Map<number, ShardItems>()

  constructor({ shards, tenant }: { readonly shards: number; readonly tenant: string }) {
    this.#shards = shards
    this.#tenant = tenant
  }

  async get(_: string, id: string): Promise<ItemRow | undefined> {
    const owned = this.#owned.get(this.#shardOf(id))
    if (owned === undefined) throw new HeddleError('not_owner')
    await owned.loaded.promise
    return owned.rows.get(id)
  }

  /** Keeps the rows of the shard from now on. What is put meanwhile wins over what is read. */
  async take(shard: number, table: OwnedRowTable, tryAgain: () => Promise<void>): Promise<void> {
    const owned: ShardItems = { rows: new Map(), loaded: Promise.withResolvers<void>() }
    this.#owned.set(shard, owned)
    while (this.#owned.get(shard) === owned) {
      try {
        const read: ItemRow[] = []
        for await (const bodies of table.bodiesOf(shard)) {
          read.push(...bodies.map((body) => ItemRow.decode(body)))
        }
        for (const row of read) {
          const id = itemId(row.namespace, row.key)
          if (!owned.rows.has(id)) owned.rows.set(id, row)
        }
        return owned.loaded.resolve()
      } catch {
        await tryAgain()
      }
    }
  }

  drop(shard: number): void {
    this.#owned.delete(shard)
  }

  async put(updates: readonly RowUpdate[]): Promise<void> {
    for (const update of updates) {
      if (update.table !== 'item') continue
      const id = itemId(update.row.namespace, update.row.key)
      this.#owned.get(this.#shardOf(id))?.rows.set(id, update.row)
    }
  }

  coversItem({ id }: ItemName): boolean {
    return this.#owned.has(this.#shardOf(id))
  }

  async removeItem({ id }: ItemName): Promise<void> {
    this.#owned.get(this.#shardOf(id))?.rows.delete(id)
  }

  #shardOf(id: string): number {
    return shardOf(actorKeyText({ kind: 'item', tenant: this.#tenant, id }), this.#shards)
  }
}
