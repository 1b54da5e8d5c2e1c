/** Check of the tables of a data directory against this program. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { readVersion } from '../file/schema-version.ts'
import { schema } from '../requests/tables.ts'

/** Steps that this program knows, the oldest program that may open the file, its newest step. */
export interface FileSchema {
  readonly known: number
  readonly oldest: number
  readonly newest: number
}

/** The newest version of the tables that this program supports. */
export const supportedTables = schema.length

/** Undefined if there is no file yet, or if it cannot be read. */
export function readSchema(directory: string): FileSchema | undefined {
  const file = join(directory, 'heddle.db')
  if (!existsSync(file)) return undefined
  const version = readVersion(file)
  return version &&
    { known: supportedTables, oldest: version.oldest,
      newest: Math.max(version.oldest, version.newest ?? 0) }
}

/** The oldest program that could work with a file of this version after this program opened it. */
export function oldestOfSteps(newest: number): number {
  return Math.max(0, ...schema.slice(newest).map(({ oldest }) => oldest))
}
