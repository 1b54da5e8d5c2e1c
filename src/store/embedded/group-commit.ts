/** Group commit: all waiting writes become durable together, and fail one by one. */

import { HeddleError } from '../../errors.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'
import type { Write } from './write.ts'

export interface Commit {
  readonly write: Write
  /** The newest record of the journal, which the write is or comes after. */
  readonly journaled: number
  /** It is in the journal, and acknowledged. */
  readonly ahead: boolean
}

/** The outcome of each write, in order; undefined for one that is done. */
export type Outcomes = readonly unknown[]

/** Iteration continues where it stopped: as generators do, and arrays' iterators. */
type Commits = { [Symbol.iterator](): IterableIterator<Commit> }

/**
 * One transaction for all writes; each is fetched when the one before it is done. A refused write
 * changes nothing and does not harm the others. If anything else fails, everything is rolled back
 * and each write gets its own transaction, so that only those fail that cannot be done. After one
 * that is acknowledged nothing is done before it is: all that follows fails as well.
 */
export function commitTogether(database: Database, tables: Tables, commits: Commits): Outcomes {
  const begun: Commit[] = []
  const left = commits[Symbol.iterator]()
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
    return all.length === 1 ? [error] : commitOneByOne(database, tables, all)
  }
}

/** Whether an outcome is that the write is acknowledged and must be tried again. */
export function isOwed({ ahead }: Commit, outcome: unknown): boolean {
  return ahead && outcome !== undefined && !(outcome instanceof HeddleError)
}

function commitOneByOne(database: Database, tables: Tables, commits: readonly Commit[]): Outcomes {
  let obstacle: unknown
  return commits.map((commit) => {
    if (obstacle !== undefined) return obstacle
    const [outcome] = commitTogether(database, tables, [commit])
    if (isOwed(commit, outcome)) obstacle = outcome
    return outcome
  })
}

function refusal(tables: Tables, { write, journaled }: Commit): HeddleError | undefined {
  try {
    tables.apply(write)
    tables.life.mark(journaled)
    return undefined
  } catch (error) {
    if (error instanceof HeddleError) return error
    throw error
  }
}
