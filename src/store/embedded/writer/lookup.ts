/**
 * Reads rows by id on the main thread: reading SQLite's cache costs less than asking the writer
 * thread and being woken by its answer. It finds what is committed: not a write under way, nor one
 * that is acknowledged and not committed yet, of which WriterLink.isAheadOn tells.
 */

import { Database } from '../file/database.ts'
import { callerDiskError } from '../file/disk-error.ts'
import { BranchTable } from '../log/branch-table.ts'
import type { StoreFile } from '../requests/request.ts'
import type { StoredRow } from '../search/stored-row.ts'
import { ItemTable } from '../tables/item-table.ts'
import { RunTable } from '../tables/run-table.ts'
import { ThreadTable } from '../tables/thread-table.ts'

/** Reads rows on a connection of the main thread. Belongs to the store. */
export class Lookup {
  readonly #file: string
  readonly #database: Database
  readonly #branches: BranchTable
  readonly #threads: ThreadTable
  readonly #runs: RunTable
  readonly #items: ItemTable

  /** Opens the connection. The file must have its tables. */
  constructor({ path }: StoreFile) {
    this.#file = path
    this.#database = new Database(path)
    this.#branches = new BranchTable(this.#database)
    this.#threads = new ThreadTable(this.#database)
    this.#runs = new RunTable(this.#database)
    this.#items = new ItemTable(this.#database, this.#threads.uses)
  }

  hasBranch(id: string): boolean {
    return this.#read(() => this.#branches.find(id)) !== undefined
  }

  thread(tenant: string, threadId: string): StoredRow | undefined {
    return this.#read(() => this.#threads.get(tenant, threadId))
  }

  /** A row; null for a long one, which the writer thread should read. */
  run(tenant: string, threadId: string, runId: string): Uint8Array | null | undefined {
    return this.#read(() => this.#runs.getShort(tenant, threadId, runId))
  }

  item(tenant: string, id: string): Uint8Array | undefined {
    return this.#read(() => this.#items.get(tenant, id))
  }

  close(): void {
    this.#database.close()
  }

  #read<Found>(read: () => Found): Found {
    try {
      return read()
    } catch (error) {
      throw callerDiskError(error, this.#file)
    }
  }
}
