/**
 * Rows by id, read on the main thread: a look into SQLite's cache costs less than to ask the writer
 * thread and to be woken by its answer. What is found is what is on disk; writes on their way are
 * not seen, and those who ask wait for their own first.
 */

import { Database } from './database.ts'
import { diskError } from './disk-error.ts'
import type { StoreFile } from './request.ts'
import { RunTable } from './run-table.ts'
import type { StoredRow } from './stored-row.ts'
import { ThreadTable } from './thread-table.ts'

export class Lookup {
  readonly #file: string
  readonly #database: Database
  readonly #threads: ThreadTable
  readonly #runs: RunTable

  /** The file has its tables already. */
  constructor({ path }: StoreFile) {
    this.#file = path
    this.#database = new Database(path)
    this.#threads = new ThreadTable(this.#database)
    this.#runs = new RunTable(this.#database)
  }

  thread(tenant: string, threadId: string): StoredRow | undefined {
    return this.#read(() => this.#threads.get(tenant, threadId))
  }

  run(tenant: string, threadId: string, runId: string): Uint8Array | undefined {
    return this.#read(() => this.#runs.get(tenant, threadId, runId))
  }

  close(): void {
    this.#database.close()
  }

  #read<Found>(read: () => Found): Found {
    try {
      return read()
    } catch (error) {
      throw diskError(error, this.#file)
    }
  }
}
