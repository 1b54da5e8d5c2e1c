/** The local index of a simulated member: rows of the threads that it owns, in memory, by shard. */

import { actorKeyText, shardOf } from '../../cluster/index.ts'
import { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { RowUpdate } from '../../src/checkpoint/index.ts'
import { HeddleError } from '../../src/errors.ts'
import type { ThreadIndex } from '../../src/records/index.ts'
import type { OwnedRowTable } from '../../src/store/cassandra/owned-row-table.ts'

interface ShardRows {
  readonly rows: Map<string, ThreadRow>
  readonly loaded: PromiseWithResolvers<void>
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
    unfinished: () => Promise.reject(new Error('nothing runs here')),
  }

  /** Rows of the shard are kept from now on; whoever asks for one waits until all are loaded. */
  async take(shard: number, table: OwnedRowTable, tryAgain: () => Promise<void>): Promise<void> {
    const owned: ShardRows = { rows: new Map(), loaded: Promise.withResolvers<void>() }
    this.#owned.set(shard, owned)
    while (this.#owned.get(shard) === owned) {
      try {
        for await (const bodies of table.bodiesOf(shard)) {
          for (const body of bodies) put(owned, ThreadRow.decode(body))
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
      if (update.table !== 'thread') continue
      const owned = this.#owned.get(this.#shardOf(update.row.threadId))
      if (owned !== undefined) put(owned, update.row)
    }
  }

  async find(_table: string, _tenant: string, id: string): Promise<ThreadRow | undefined> {
    return this.threads.get('', id)
  }

  #shardOf(id: string): number {
    return shardOf(actorKeyText({ kind: 'thread', tenant: this.#tenant, id }), this.#shards)
  }
}

/** Newer rows stay. */
function put({ rows }: ShardRows, row: ThreadRow): void {
  const known = rows.get(row.threadId)
  const older = known && (known.epoch - row.epoch || known.seq - row.seq) > 0
  if (!older) rows.set(row.threadId, row)
}
