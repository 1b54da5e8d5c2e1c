/**
 * The rows of all threads and assistants that this member owns, in a local file: searches are
 * answered from it. It is scratch: made anew at each start from what Cassandra has.
 */

import type { AssistantRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { Env } from '../../../cluster/index.ts'
import type { PurgeSubject, RowUpdate } from '../../checkpoint/index.ts'
import type { AssistantIndex, ThreadIndex } from '../../records/index.ts'
import { openEmbeddedStore } from '../embedded/index.ts'
import type { EmbeddedStore } from '../embedded/index.ts'
import { inFlight } from './in-flight.ts'
import type { OwnedRowTable, OwnedTable } from './owned-row-table.ts'

/** Shards that are read at the same time. */
const shardsAtOnce = 16
/** Pages on their way into the file: so many that it takes a lot of them at a time. */
const pagesAtOnce = 100

export class LocalIndex {
  /** Both answer when everything is loaded. */
  readonly threads: ThreadIndex
  readonly assistants: AssistantIndex
  readonly #store: EmbeddedStore
  readonly #loaded = Promise.withResolvers<void>()

  static async open(options: { directory: string; env: Env }): Promise<LocalIndex> {
    return new LocalIndex(await openEmbeddedStore({ ...options, durable: false }))
  }

  private constructor(store: EmbeddedStore) {
    this.#store = store
    const { threads, assistants } = store
    const loaded = this.#loaded.promise
    // Those who ask hear of it; it is no failure that nobody asked.
    loaded.catch(() => {})
    this.threads = {
      get: async (...key) => { await loaded; return threads.get(...key) },
      search: async (query) => { await loaded; return threads.search(query) },
      count: async (filter) => { await loaded; return threads.count(filter) },
      unfinished: async () => { await loaded; return threads.unfinished() },
    }
    this.assistants = {
      get: async (...key) => { await loaded; return assistants.get(...key) },
      search: async (query) => { await loaded; return assistants.search(query) },
      count: async (filter) => { await loaded; return assistants.count(filter) },
    }
  }

  /** Reads the rows of these shards. Newer ones that were put meanwhile stay. */
  async load(tables: Readonly<Record<OwnedTable, OwnedRowTable>>, shards: readonly number[]):
    Promise<void> {
    const filling = new Set<Promise<void>>()
    await inFlight(shardsAtOnce, shards, async (shard) => {
      for (const table of ['thread', 'assistant'] as const) {
        for await (const bodies of tables[table].bodiesOf(shard)) {
          if (filling.size >= pagesAtOnce) await Promise.race(filling)
          const filled = this.#store.fill(table, bodies)
          filling.add(filled)
          filled.then(() => filling.delete(filled), () => undefined)
        }
      }
    })
    await Promise.all(filling)
    this.#loaded.resolve()
  }

  async put(updates: readonly RowUpdate[]): Promise<void> {
    if (updates.length > 0) await this.#store.log.append([], updates)
  }

  /** The row as it is found by its id. */
  find(table: OwnedTable, tenant: string, id: string):
    Promise<ThreadRow | AssistantRow | undefined> {
    return table === 'thread' ? this.threads.get(tenant, id) : this.assistants.get(tenant, id)
  }

  async remove(subject: PurgeSubject): Promise<void> {
    await this.#loaded.promise
    await this.#store.log.purge(subject)
  }

  async close(): Promise<void> {
    this.#loaded.promise.catch(() => {})
    await this.#store.close()
  }
}
