/** Group commit: all waiting writes become durable together, and fail one by one. */

import { HeddleError } from '../../errors.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'
import type { Write } from './write.ts'

/** The outcome of each write, in order; undefined for one that is on disk. */
export type Outcomes = readonly unknown[]

/** Iteration continues where it stopped: as generators do, and arrays' iterators. */
type Writes = { [Symbol.iterator](): IterableIterator<Write> }

/**
 * One transaction for all writes; each is fetched when the one before it is done. A refused write
 * changes nothing and does not harm the others. If anything else fails, everything is rolled back
 * and each write gets its own transaction, so that only those fail that cannot be done.
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
