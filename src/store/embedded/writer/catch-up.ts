/** Does what is in the journal and not in the database: the process was killed in between. */

import { HeddleError } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import { isConflict } from '../file/disk-error.ts'
import type { Tables } from './tables.ts'
import { unpackWrites } from './wire-batch.ts'
import { journalPath } from './write-ahead-file.ts'
import type { JournalRecord } from './write-ahead-record.ts'
import type { Write } from './write.ts'

export interface Behind {
  /** The path of the database that the journal belongs to. */
  readonly file: string
  readonly database: Database
  readonly tables: Tables
}

/** Throws `unavailable` if the records do not follow what the database has. */
export function catchUp({ file, database, tables }: Behind, records: readonly JournalRecord[]):
void {
  const { salt, written } = tables.life.newest
  const missing = records.filter(({ number }) => number > written)
  if (missing.length === 0) return
  if (missing[0]!.number !== written + 1 || missing[0]!.salt !== salt) throw stray(file)
  database.transaction(() => {
    for (const { number, write } of missing) {
      for (const each of unpackWrites(write)) apply(file, tables, each)
      tables.life.mark(number)
    }
  })
}

/** Throws a sentence about the journal if the write does not belong to what is there. */
function apply(file: string, tables: Tables, write: Write): void {
  try {
    tables.apply(write)
  } catch (error) {
    throw error instanceof HeddleError || isConflict(error) ? stray(file, error) : error
  }
}

function stray(file: string, cause?: unknown): HeddleError {
  return new HeddleError('unavailable', `${journalPath(file)} holds writes that do not follow ` +
    `those in ${file}. Put the files of one moment together, or move the former away, and with ` +
    'it what only it holds.', {}, { cause })
}
