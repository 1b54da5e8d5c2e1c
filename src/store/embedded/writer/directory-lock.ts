/** A data directory belongs to one process. The lock is released however the process ends. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { HeddleError } from '../../../errors.ts'
import { busy, diskError, sqliteCode } from '../file/disk-error.ts'
import { makePrivate } from './database-file.ts'

/**
 * Locks the directory, and returns a function that releases it. Throws `not_owner` if another
 * process has it. SQLite locks a file through the operating system, so no mark stays behind that
 * would block a restart.
 */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, 'heddle.lock')
  let lock: DatabaseSync | undefined
  try {
    makePrivate(file)
    lock = new DatabaseSync(file)
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    if (sqliteCode(error) !== busy) throw diskError(error, file)
    throw new HeddleError('not_owner', `The data directory ${directory} is in use by another ` +
      'process. Stop that process, or choose another directory.')
  }
  const held = lock
  return () => {
    if (held.isOpen) held.close()
  }
}
