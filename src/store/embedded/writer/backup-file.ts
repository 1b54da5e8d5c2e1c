/** The files of a backup: what they are called, and whether their content can be trusted. */

import { DatabaseSync } from 'node:sqlite'

import { HeddleError } from '../../../errors.ts'
import { diskError } from '../file/disk-error.ts'

/** Files beside `heddle.db` that a backup has, by the ending that they get there. */
export const backupParts = [{ name: 'documents.db', ending: '.documents' }, { name: 'traces.db',
  ending: '.traces' }] as const

/** Throws `unavailable` unless the file is a whole database. Reads all of it. */
export function requireSound(file: string): void {
  let fault: unknown
  try {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      fault = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']
    } finally {
      database.close()
    }
  } catch (error) {
    throw diskError(error, file)
  }
  if (fault === 'ok') return
  throw new HeddleError('unavailable',
    `${file} is damaged (${String(fault).slice(0, 200)}): take ` +
      'another backup.')
}
