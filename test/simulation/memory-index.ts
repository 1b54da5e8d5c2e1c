/** The local index of a simulated member: rows of the threads that it owns, in memory, by shard. */

import { actorKeyText, shardOf } from '../../cluster/index.ts'
import { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { PurgeSubject, RowUpdate } from '../../src/checkpoint/index.ts'
import { HeddleError } from '../../src/errors.ts'
import type { ThreadIndex } from '../../src/search/index.ts'
import type { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'
import { ShardChanges } from '../../src/store/cassandra/index/shard-changes.ts'

interface ShardRows {
  readonly rows: Map<string, ThreadRow>
  readonly loaded: PromiseWithResolvers<void>
  /** Changes made while the rows are being read. */
  readonly changes: ShardChanges
  isLoaded: boolean
}

export class MemoryIndex {
  readonly #shards: number
  readonly #tenant: string
  readonly #owned = new Map<number, ShardRows>()

  constructor({ shards, tenant }: { readonly shards: number; readonly tenant: string }) {
    this.#shards = shards
    this.#tenant = tenant
  }

  readonly threads: ThreadIndex = {
    get: async (_, threadId) => {
      const owned = this.#owned.get(this.#shardOf(threadId))
      if (owned === undefined) throw new HeddleError('not_owner')
      await owned.loaded.promise
      return owned.rows.get(threadId)
    },
    search: () => Promise.reject(new Error('nobody searches here')),
    count: () => Promise.reject(new Error('nobody counts here')),
  }

  /** Keeps the rows of the shard from now on; reads wait until all are loaded. */
  async take(shard: number, table: OwnedRowTable, tryAgain: () => Promise<void>): Promise<void> {
    const owned: ShardRows = { rows: new Map(), loaded: Promise.withResolvers<void>(),
      changes: new ShardChanges(), isLoaded: false }
    this.#owned.set(shard, owned)
    while (this.#owned.get(shard) === owned) {
      try {
        const read: { table: 'thread'; body: Uint8Array }[] = []
        for await (const bodies of table.bodiesOf(shard)) {
          for (const body of bodies) read.push({ table: 'thread', body })
        }
        for (const { body } of owned.changes.merged(read)) {
          const row = ThreadRow.decode(body)
          owned.rows.set(row.threadId, row)
        }
        owned.isLoaded = true
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
      if (update.table !== 'thread') continue
      const owned = this.#owned.get(this.#shardOf(update.row.threadId))
      if (owned?.isLoaded) put(owned, update.row)
      else owned?.changes.put(update)
    }
  }

  /** A row of another life stays. */
  async remove(subject: PurgeSubject): Promise<void> {
    const owned = this.#owned.get(this.#shardOf(subject.id))
    if (owned === undefined) return
    if (!owned.isLoaded) return owned.changes.remove(subject)
    if (owned.rows.get(subject.id)?.branch?.id === subject.branch.id) owned.rows.delete(subject.id)
  }

  #shardOf(id: string): number {
    return shardOf(actorKeyText({ kind: 'thread', tenant: this.#tenant, id }), this.#shards)
  }
}

/** Keeps the newer row; of two lives the one that is put last is the later one. */
function put({ rows }: ShardRows, row: ThreadRow): void {
  const known = rows.get(row.threadId)
  const isSame = known?.branch?.id === row.branch?.id
  const isOlder = known && isSame && (known.epoch - row.epoch || known.seq - row.seq) > 0
  if (!isOlder) rows.set(row.threadId, row)
}
