/** A data directory with many threads, written as rows: calls would take an hour. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

import { Database } from '../../../src/store/embedded/file/database.ts'
import { entryOf } from '../../../src/store/embedded/requests/entry.ts'
import { schema, Tables } from '../../../src/store/embedded/requests/tables.ts'
import { provideFile } from '../../../src/store/embedded/writer/database-file.ts'
import { aThread } from '../../contract/rows.ts'

/** Writes threads before a server opens the directory. One in ten waits for a person. */
export function writeManyThreads(directory: string, count: number): void {
  const file = join(directory, 'heddle.db')
  provideFile(file)
  const database = new Database(file, schema)
  const tables = new Tables(database)
  const newestMs = Date.now()
  database.transaction(() => {
    for (let number = 0; number < count; number++) {
      const atMs = newestMs - number * 1_000
      const metadata = { title: `Thread number ${number}`, user: `user-${number % 500}`,
        graph_id: 'echo' }
      const row = aThread({ threadId: randomUUID(), createdAtMs: atMs, updatedAtMs: atMs,
        stateUpdatedAtMs: atMs, status: number % 10 === 9 ? 'interrupted' : 'idle',
        metadataJson: JSON.stringify(metadata) })
      tables.apply({ kind: 'append', rows: [], updates: [entryOf({ table: 'thread', row })] })
    }
  })
  database.close()
}
