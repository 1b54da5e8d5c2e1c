/** Group commit: whatever is waiting becomes durable together, and fails one by one. */

import { HeddleError } from '../../errors.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'
import type { Write } from './write.ts'

/** What became of each write, in their order; undefined for one that is on disk. */
export type Outcomes = readonly unknown[]

/** What goes on where it was left: an array's, a generator's. */
type Writes = { [Symbol.iterator](): IterableIterator<Write> }

/**
 * One transaction for all; each is asked for when the one before it is done. A write that is
 * refused has changed nothing and does no harm to the others. Where anything else fails, all is
 * undone and each write gets a transaction of its own, so that only those fail that cannot be done.
 */
export function commitTogether(database: Database, tables: Tables, writes: Writes): Outcomes {
  const begun: Write[] = []
  const left = writes[Symbol.iterator]()
  try {
    return database.transaction(() => {
      const outcomes: unknown[] = []
      for (let next = left.next(); !next.done; next = left.next()) {
        begun.push(next.value)
        outcomes.push(refusal(tables, next.value))
      }
      return outcomes
    })
  } catch (error) {
    tables.forget()
    const all = [...begun, ...left]
    if (all.length === 1) return [error]
    return all.map((write) => commitTogether(database, tables, [write])[0])
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
