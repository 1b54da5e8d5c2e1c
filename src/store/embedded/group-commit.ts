/** Group commit: whatever is waiting becomes durable together, and fails one by one. */

import { HeddleError } from '../../errors.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'
import type { Write } from './write.ts'

/** What became of each write, in their order; undefined for one that is on disk. */
export type Outcomes = readonly unknown[]

/**
 * One transaction for all. A write that is refused has changed nothing and does no harm to the
 * others. Where anything else fails, all is undone and each write gets a transaction of its own,
 * so that only those fail that cannot be done.
 */
export function commitTogether(database: Database, tables: Tables, writes: readonly Write[]):
  Outcomes {
  try {
    return database.transaction(() => writes.map((write) => refusal(tables, write)))
  } catch (error) {
    tables.forget()
    if (writes.length === 1) return [error]
    return writes.map((write) => commitTogether(database, tables, [write])[0])
  }
}

function refusal(tables: Tables, write: Write): HeddleError | undefined {
  try {
    tables.apply(write)
    return undefined
  } catch (error) {
    if (error instanceof HeddleError) return error
    throw error
  }
}
