/** The database's file: created complete and private, and refused if its content was lost. */

import { chmodSync, closeSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { HeddleError } from '../../../errors.ts'
import { removeWriteAhead, writeAheadPath } from '../durable/index.ts'
import { diskError } from '../file/disk-error.ts'

/**
 * Creates the file if there is none. Throws `unavailable` if it is empty, or missing beside its
 * write-ahead log: SQLite would begin a new one and remove the log, which has the newest commits.
 * Nor does it begin a new one beside a write-ahead file, which has the newest writes.
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

export function removeFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  removeWriteAhead(path)
}

/** It appears with a first page: a process that is killed here leaves no empty file behind. */
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
 * Creates the file for its owner only, or makes it so; SQLite gives the files that it creates
 * beside it the same mode. One that is there is not opened: to close it would end the locks that
 * this process has on it.
 */
export function makePrivate(path: string): void {
  try {
    if (sizeOf(path) === undefined) closeSync(openSync(path, 'ax', 0o600))
    else chmodSync(path, 0o600)
  } catch {
    // SQLite fails as well, with an error that has a sentence.
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

function lost(path: string, how: string): HeddleError {
  return new HeddleError('unavailable',
    `${path} ${how}. Put a backup in its place, or move ${path}* away to begin anew.`)
}
