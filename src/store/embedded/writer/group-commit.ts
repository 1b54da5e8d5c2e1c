/** Group commit: all waiting writes are committed together, and fail one by one. */

import { HeddleError } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import { busy, sqliteCode } from '../file/disk-error.ts'
import type { Tables } from '../requests/tables.ts'
import type { Write } from '../requests/write.ts'

/** A write to be committed. */
export interface Commit {
  readonly write: Write
  /** Number of its batch; 0 if batches are not numbered. */
  readonly number: number
  /** It is on disk already, outside of the database. */
  readonly acknowledged: boolean
}

/** The outcome of each write, in order; undefined for one that is done. */
export type Outcomes = readonly unknown[]

/** Writes whose iteration continues where it stopped, as that of a generator does. */
type Commits = { [Symbol.iterator](): IterableIterator<Commit> }

/**
 * Commits all writes in one transaction. Each is fetched when the one before it is done. A refused
 * write changes nothing and does not harm the others. If anything else fails, everything is rolled
 * back and each write gets a transaction of its own, so that only those fail that cannot be done.
 * If an acknowledged write fails, all behind it fail untried. The same goes for a write that waited
 * in vain for another process. Without `wait` it does not wait for the disk, which is for writes
 * that are all acknowledged.
 */
export function commitTogether(database: Database, tables: Tables, commits: Commits,
  wait = true): Outcomes {
  const begun: Commit[] = []
  const left = commits[Symbol.iterator]()
  try {
    return database.transaction(() => {
      const outcomes: unknown[] = []
      for (let next = left.next(); !next.done; next = left.next()) {
        begun.push(next.value)
        outcomes.push(refusal(tables, next.value))
      }
      const { number } = begun.at(-1)!
      if (number > 0 && outcomes.includes(undefined)) tables.generation.mark(number)
      return outcomes
    }, wait)
  } catch (error) {
    tables.forget()
    const all = [...begun, ...left]
    // Each would wait as long for the process that holds the file.
    if (all.length === 1 || sqliteCode(error) === busy) return all.map(() => error)
    let obstacle: unknown
    return all.map((commit) => {
      if (obstacle !== undefined) return obstacle
      const [outcome] = commitTogether(database, tables, [commit], wait)
      if (commit.acknowledged || sqliteCode(outcome) === busy) obstacle = outcome
      return outcome
    })
  }
}

/** Applies a write and returns its refusal. The refusal of an acknowledged write is thrown. */
function refusal(tables: Tables, { write, acknowledged }: Commit): HeddleError | undefined {
  try {
    tables.apply(write)
    return undefined
  } catch (error) {
    if (error instanceof HeddleError && !acknowledged) return error
    throw error
  }
}
