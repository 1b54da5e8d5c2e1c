/** Errors of the database file, in words for the person who can do something about them. */

import { basename, dirname, join, sep } from 'node:path'

import { CodedError, HeddleError } from '../../../errors.ts'
import { memberOf } from '../../../json/index.ts'

/** SQLite's primary result code for a locked file; more codes follow. */
export const busy = 5
const noMemory = 7
const readOnly = 8
/** SQLite's code for a disk that failed to read or write. */
export const ioError = 10
const corrupt = 11
const full = 13
const cannotOpen = 14
const lockProtocol = 15
const tooBig = 18
const constraint = 19
const notADatabase = 26
/** Extended code for an index of the write-ahead log that cannot grow, because the disk is full. */
const indexCannotGrow = 4874

/**
 * The error as callers may see it: an `unavailable` with a message that names `file`. That is the
 * name of the database alone where callers from outside get the message, and its path where whoever
 * started the server does.
 */
export function diskError(caught: unknown, file: string): HeddleError {
  if (caught instanceof CodedError) return HeddleError.from(caught)
  const message = messageOf(sqliteCode(caught) ?? systemCode(caught), file)
  if (message) return new HeddleError('unavailable', message, {}, { cause: caught })
  if (sqliteCode(caught) === tooBig) {
    return new HeddleError('too_large', undefined, {}, { cause: caught })
  }
  return HeddleError.from(caught)
}

/** The same for callers from outside: it names the file at a path, and not its folder. */
export function callerDiskError(caught: unknown, path: string): HeddleError {
  const error = diskError(caught, basename(path))
  const message = error.message.replaceAll(join(dirname(path), sep), '')
  return message === error.message
    ? error
    : new HeddleError(error.code, message, error.details, { cause: error })
}

/** True if the disk that was written to is full. */
export function isFull(caught: unknown): boolean {
  return (sqliteCode(caught) ?? systemCode(caught)) === full
}

/** True if the same may succeed later, when the disk, the memory or another program allows it. */
export function mayPass(caught: unknown): boolean {
  const passing = [busy, noMemory, readOnly, ioError, full, cannotOpen, lockProtocol]
  return passing.includes(sqliteCode(caught) ?? 0)
}

/** True if the file is damaged, or no database. */
export function isDamage(caught: unknown): boolean {
  return [corrupt, notADatabase].includes(sqliteCode(caught) ?? 0)
}

/** True if a row does not fit those that are there. */
export function isConflict(caught: unknown): boolean {
  return sqliteCode(caught) === constraint
}

/** SQLite's primary result code; undefined for an error of another source. */
export function sqliteCode(caught: unknown): number | undefined {
  const code = memberOf(caught, 'errcode')
  if (code === indexCannotGrow) return full
  return typeof code === 'number' ? code & 0xff : undefined
}

/** SQLite's code for an error of the file system; undefined for other errors. */
function systemCode(caught: unknown): number | undefined {
  switch (memberOf(caught, 'code')) {
    case 'ENOSPC':
    case 'EDQUOT':
      return full
    case 'EIO':
      return ioError
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'ENOTDIR':
      return cannotOpen
    default:
      return undefined
  }
}

function messageOf(code: number | undefined, file: string): string | undefined {
  switch (code) {
    case busy:
      return `Another program holds ${file}. End it, and try again.`
    case full:
      return `The disk of ${file} is full. Free some space and try again.`
    case ioError:
      return `The disk of ${file} does not work. Look at the disk and try again.`
    case corrupt:
    case notADatabase:
      return `${file} is damaged. Move ${file}* away, for an old write-ahead ` +
        'log spoils a new file, and put a backup in its place if there is one.'
    case readOnly:
    case cannotOpen:
      return `${file} cannot be written. Allow this user to write there.`
    default:
      return undefined
  }
}
