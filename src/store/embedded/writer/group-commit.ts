/** Group commit: all waiting writes are committed together, and fail one by one. */

import { HeddleError } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import { busy, sqliteCode } from '../file/disk-error.ts'
import type { Tables } from '../requests/tables.ts'
import type { Write } from '../requests/write.ts'

export interface Commit {
  readonly write: Write
  /** Of its batch; 0 if batches are not numbered. */
  readonly number: number
  /** It is on disk already, outside of the database. */
  readonly acknowledged: boolean
}

/** The outcome of each write, in order; undefined for one that is done. */
export type Outcomes = readonly unknown[]

/** Iteration continues where it stopped: as generators do, and arrays' iterators. */
type Commits = { [Symbol.iterator](): IterableIterator<Commit> }

/**
 * One transaction for all writes; each is fetched when the one before it is done. A refused write
 * changes nothing and does not harm the others. If anything else fails, everything is rolled back
 * and each write gets its own transaction, so that only those fail that cannot be done. If an
 * acknowledged write fails, all behind it fail with it, and are not tried; the same goes for one
 * that waited in vain for another process. Does not wait for the disk if asked so, which is for
 * writes that are all acknowledged.
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
    // Each would wait as long for whoever holds the file.
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

/** An acknowledged write must not be refused: its refusal is thrown. */
function refusal(tables: Tables, { write, acknowledged }: Commit): HeddleError | undefined {
  try {
    tables.apply(write)
    return undefined
  } catch (error) {
    if (error instanceof HeddleError && !acknowledged) return error
    throw error
  }
}
