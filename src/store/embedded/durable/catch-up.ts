/**
 * Applies writes that are in the write-ahead file and not in the database, because the process was
 * killed in between.
 */

import { HeddleError } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import { isConflict } from '../file/disk-error.ts'
import type { Tables } from '../requests/tables.ts'
import { unpackWrites } from '../requests/wire-batch.ts'
import type { Write } from '../requests/write.ts'
import { writeAheadPath } from './write-ahead-file.ts'
import type { WriteAheadRecord } from './write-ahead-record.ts'

/** A database that may lack writes of its write-ahead file. */
export interface Behind {
  /** Path of the database that the write-ahead file belongs to. */
  readonly file: string
  readonly database: Database
  readonly tables: Tables
}

/**
 * Applies the missing records. Throws `unavailable` if they do not follow what the database has.
 */
export function catchUp({ file, database, tables }: Behind,
  records: readonly WriteAheadRecord[]): void {
  const { salt, written } = tables.generation.newest
  const missing = records.filter(({ number }) => number > written)
  if (missing.length === 0) return
  if (missing[0]!.number !== written + 1 || missing[0]!.salt !== salt) throw stray(file)
  database.transaction(() => {
    for (const { number, write } of missing) {
      for (const each of unpackWrites(write)) apply(file, tables, each)
      tables.generation.mark(number)
    }
  })
}

/** Throws an error about the write-ahead file if the write does not fit what is there. */
function apply(file: string, tables: Tables, write: Write): void {
  try {
    tables.apply(write)
  } catch (error) {
    throw error instanceof HeddleError || isConflict(error) ? stray(file, error) : error
  }
}

function stray(file: string, cause?: unknown): HeddleError {
  return new HeddleError('unavailable', `${writeAheadPath(file)} holds writes that do not follow ` +
    `those in ${file}. Put the files of one moment together, or move the former away, and with ` +
    'it what only it holds.', {}, { cause })
}
