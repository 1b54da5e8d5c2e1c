/** The local index of a simulated member: rows of the threads that it owns, in memory. */

import { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { RowUpdate } from '../../src/checkpoint/index.ts'
import type { ThreadIndex } from '../../src/records/index.ts'
import type { OwnedRowTable } from '../../src/store/cassandra/owned-row-table.ts'

export class MemoryIndex {
  readonly #rows = new Map<string, ThreadRow>()
  readonly #loaded = Promise.withResolvers<void>()

  readonly threads: ThreadIndex = {
    get: async (_, threadId) => {
      await this.#loaded.promise
      return this.#rows.get(threadId)
    },
    search: () => Promise.reject(new Error('nobody searches here')),
    count: () => Promise.reject(new Error('nobody counts here')),
  }

  async load(table: OwnedRowTable, shards: number): Promise<void> {
    for (let shard = 0; shard < shards; shard++) {
      for await (const bodies of table.bodiesOf(shard)) {
        for (const body of bodies) this.#put(ThreadRow.decode(body))
      }
    }
    this.#loaded.resolve()
  }

  async put(updates: readonly RowUpdate[]): Promise<void> {
    for (const update of updates) if (update.table === 'thread') this.#put(update.row)
  }

  async find(_table: string, _tenant: string, id: string): Promise<ThreadRow | undefined> {
    return this.threads.get('', id)
  }

  /** Newer rows stay. */
  #put(row: ThreadRow): void {
    const known = this.#rows.get(row.threadId)
    const older = known && (known.epoch - row.epoch || known.seq - row.seq) > 0
    if (!older) this.#rows.set(row.threadId, row)
  }
}
