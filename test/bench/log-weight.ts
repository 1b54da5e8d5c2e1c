/** How many bytes the log of a data directory holds, read beside the server that writes it. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A function that sums the bodies of all log rows: what was written, not what the file takes. */
export function openLogWeight(dataDir: string): { bytes(): number, close(): void } {
  const file = readdirSync(dataDir).map((name) => join(dataDir, name)).find(isDatabase)
  if (file === undefined) throw new Error(`no database in ${dataDir}`)
  const database = new DatabaseSync(file, { readOnly: true })
  const sum = database.prepare('SELECT coalesce(sum(length(body)), 0) AS bytes FROM log')
  return {
    bytes: () => (sum.get() as { bytes: number }).bytes,
    close: () => database.close(),
  }
}

function isDatabase(file: string): boolean {
  return readFileSync(file).subarray(0, 15).toString() === 'SQLite format 3'
}
