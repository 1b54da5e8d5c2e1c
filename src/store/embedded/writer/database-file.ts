/** The database's file: created complete and private, and refused if its content was lost. */

import { chmodSync, closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { HeddleError } from '../../../errors.ts'
import { removeWriteAhead, writeAheadPath } from '../durable/index.ts'
import { diskError } from '../file/disk-error.ts'

/**
 * Creates the file if there is none. Throws `unavailable` if the file is empty, or missing beside
 * its write-ahead log or its write-ahead file. SQLite would begin a new file and remove the log,
 * although the log has the newest commits and the write-ahead file the newest writes.
 */
export function provideFile(path: string): void {
  const size = sizeOf(path)
  if (size === 0) throw lost(path, 'is empty')
  if (size !== undefined) return
  const hasLog = (sizeOf(`${path}-wal`) ?? 0) > 0
  if (hasLog) throw lost(path, 'is missing, though its write-ahead log is there')
  const hasWriteAhead = sizeOf(writeAheadPath(path)) !== undefined
  if (hasWriteAhead) throw lost(path, 'is missing, though its write-ahead file is there')
  try {
    create(path)
  } catch (error) {
    throw diskError(error, path)
  }
}

/** Removes the database with its logs and its write-ahead file. Nothing may have it open. */
export function removeFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  removeWriteAhead(path)
}

/** Makes the file appear with a first page. A process that is killed here leaves no empty file. */
function create(path: string): void {
  const draft = `${path}-new`
  rmSync(draft, { force: true })
  makePrivate(draft)
  const database = new DatabaseSync(draft)
  try {
    database.exec('VACUUM')
  } finally {
    database.close()
  }
  renameSync(draft, path)
}

/**
 * Creates the file for its owner only, or makes it so. SQLite gives the same mode to the files
 * beside it. An existing file is not opened, because closing it would end the locks that this
 * process has on it.
 */
export function makePrivate(path: string): void {
  try {
    if (sizeOf(path) === undefined) closeSync(openSync(path, 'ax', 0o600))
    else chmodSync(path, 0o600)
  } catch {
    // SQLite fails as well, with an error that has a message.
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

function lost(path: string, how: string): HeddleError {
  return new HeddleError('unavailable',
    `${path} ${how}. Put a backup in its place, or move ${path}* away to begin anew.`)
}
