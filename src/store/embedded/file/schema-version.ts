/** Schema steps that a file has seen, and the programs that can work with them. */

import { DatabaseSync } from 'node:sqlite'

import { HeddleError } from '../../../errors.ts'

/** A change of the tables. The first one makes version 1. */
export interface SchemaStep {
  readonly sql: string
  /**
   * Version of the oldest program that can work with this step. Such a program reads and writes the
   * file as if the step were not there, and loses nothing. A step that only adds keeps the number
   * of the step before. A step that removes something names the first version that does not need
   * it.
   */
  readonly oldest: number
}

/** Version of a file, as the file itself says it. */
export interface FileVersion {
  /** `user_version`: the oldest program that can work with the file, by the steps that it knows. */
  readonly oldest: number
  /** The newest step that the file has seen; undefined if only `oldest` is known. */
  readonly newest: number | undefined
}

/** SQL that migrates a file, and the versions to note in it. */
export interface Migration {
  readonly sql: string
  readonly oldest: number
  readonly newest: number
}

/**
 * Finds the migration of a file; undefined if none is needed. `user_version` is the oldest program,
 * because programs that know only the first six steps read it alone, and refuse a number above
 * their own. Throws `unsupported` if this program is too old for the file.
 */
export function migrationOf(file: string, { oldest, newest = oldest }: FileVersion,
  steps: readonly SchemaStep[]): Migration | undefined {
  if (oldest > steps.length) {
    throw new HeddleError('unsupported', `${file} was written by a newer version of Heddle that ` +
      'this one cannot live with. Start that version, or choose another data directory.')
  }
  const missing = steps.slice(Math.max(oldest, newest))
  if (missing.length === 0) return undefined
  return {
    sql: missing.map(({ sql }) => sql).join(';'),
    oldest: Math.max(oldest, ...missing.map((step) => step.oldest)),
    newest: steps.length,
  }
}

/** Reads what a file says of itself, without changing it. Undefined if it cannot be read. */
export function readVersion(file: string): FileVersion | undefined {
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      const oldest = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
      const known = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_version'")
        .get()
      const newest = known && database.prepare(
        "SELECT version FROM schema_version WHERE name = 'newest'",
      ).get()?.['version']
      return { oldest, newest: newest === undefined ? undefined : Number(newest) }
    } finally {
      database.close()
    }
  } catch {
    return undefined
  }
}
