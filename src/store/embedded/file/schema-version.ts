/** Which steps of the schema a file has seen, and which programs can live with them. */

import { HeddleError } from '../../../errors.ts'

/** A change of the tables. The first one makes version 1. */
export interface SchemaStep {
  readonly sql: string
  /**
   * The version of the oldest program that can live with this step: it reads and writes the file as
   * if the step were not there, and loses nothing by that. A step that only adds leaves it as it
   * was; a step that takes something away names the first version whose program no longer needs it.
   */
  readonly oldest: number
}

/** What a file says of itself. */
export interface FileVersion {
  /** `user_version`: the oldest program that can live with the file, by the steps that it knows. */
  readonly oldest: number
  /** The newest step that it has seen; undefined if nothing but `oldest` is known. */
  readonly newest: number | undefined
}

/** What is to be done to a file; undefined if nothing. */
export interface Migration {
  readonly sql: string
  readonly oldest: number
  readonly newest: number
}

/**
 * Programs that know only the first six steps read `user_version` alone, and refuse a greater
 * number than their own: so it is the oldest program. Throws `unsupported` if this program is too
 * old for the file.
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
