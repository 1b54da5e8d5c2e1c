/** The files of a backup: what they are called, and whether their content can be trusted. */

import { DatabaseSync } from 'node:sqlite'

import { HeddleError } from '../../../errors.ts'
import { diskError } from '../file/disk-error.ts'

/** Files beside `heddle.db` that a backup has, by the ending that they get there. */
export const backupParts = [{ name: 'documents.db', ending: '.documents' }, { name: 'traces.db',
  ending: '.traces' }] as const

/** Endings of all files with data: first the empty ending of the copy of `heddle.db`. */
export const backupEndings = ['', ...backupParts.map(({ ending }) => ending)] as const

/** Ending of a file of a backup, after the name of the backup. */
export type BackupEnding = (typeof backupEndings)[number]

/** Tables whose rows a manifest counts, of all databases. */
export const countedTables = ['thread', 'run', 'assistant', 'cron', 'item', 'document', 'span',
  'feedback'] as const

/** Progress of work on one file of a backup. */
export interface BackupProgress {
  readonly work: 'Copying' | 'Checking' | 'Hashing'
  readonly file: string
  /** Size of the file. */
  readonly bytes: number
  /** Bytes that are done. */
  readonly done: number
}

/** Receives the progress of long work. */
export type ReportProgress = (progress: BackupProgress) => void

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
