/** Check of the files of a backup against its manifest. Writes nothing. */

import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'

import { HeddleError } from '../../../errors.ts'
import { backupEndings } from './backup-file.ts'
import type { ReportProgress } from './backup-file.ts'
import { isMarkedBackup, manifestEnding, readFault, readManifest } from './backup-manifest.ts'
import type { BackupManifest } from './backup-manifest.ts'

/**
 * required  a backup without a manifest is refused
 * expected  it is accepted only if it was made by a program that wrote none
 * ignored   the manifest is not read
 */
export type ManifestUse = 'required' | 'expected' | 'ignored'

/** Bytes that are read at a time. */
const pieceBytes = 4 * 1024 * 1024

/**
 * Compares a backup with its manifest, which is returned. Throws HeddleError: `not_found` if there
 * is no backup, `unavailable` if there is no manifest, or if a file is damaged, missing, of another
 * backup or not part of this backup. Reads all bytes, and blocks its thread meanwhile.
 */
export function verifyBackup(backup: string, report: ReportProgress): BackupManifest {
  const manifest = readManifest(backup)
  if (manifest !== undefined) {
    requireFiles(backup, manifest, report)
    return manifest
  }
  requireBackup(backup)
  throw new HeddleError('unavailable',
    `There is no ${backup}${manifestEnding} to check the backup against.`)
}

/** Checks a backup, as `verifyBackup` does if it has a manifest. Returns false if it has none. */
export function checkBackup(backup: string, use: ManifestUse, report: ReportProgress): boolean {
  const file = `${backup}${manifestEnding}`
  if (use === 'required' || (use === 'expected' && existsSync(file))) {
    verifyBackup(backup, report)
    return true
  }
  requireBackup(backup)
  if (use === 'expected' && isMarkedBackup(backup)) {
    throw new HeddleError('unavailable',
      `${file} is missing, and ${backup} was made with it: put ` +
        'all files of the backup together, or restore what is there with --without-manifest.')
  }
  return false
}

function requireBackup(backup: string): void {
  if (!existsSync(backup)) throw new HeddleError('not_found', `There is no backup ${backup}.`)
}

function requireFiles(backup: string, { files }: BackupManifest, report: ReportProgress): void {
  // Missing and extra files are found before long ones are read.
  for (const ending of backupEndings) {
    const file = `${backup}${ending}`
    const isListed = files.some((each) => each.ending === ending)
    if (isListed && !existsSync(file)) {
      throw new HeddleError('unavailable', `${file} is missing: put all files of the backup ` +
        'together.')
    }
    if (!isListed && existsSync(file)) {
      throw new HeddleError('unavailable', `${file} is not part of this backup: move it away.`)
    }
  }
  for (const { ending, bytes } of files) {
    const file = `${backup}${ending}`
    const found = statSync(file).size
    if (found !== bytes) {
      throw differs(file, `has ${found} bytes, and the manifest lists ${bytes}`)
    }
  }
  for (const { ending, sha256 } of files) {
    const file = `${backup}${ending}`
    const found = hashFile(file, report)
    if (found !== sha256) {
      throw differs(file, `has the SHA-256 ${found}, and the manifest lists ${sha256}`)
    }
  }
}

function differs(file: string, difference: string): HeddleError {
  return new HeddleError('unavailable', `${file} is damaged or belongs to another backup: it ` +
    `${difference}.`)
}

/** Returns the SHA-256 of a file, in hexadecimal. */
export function hashFile(file: string, report: ReportProgress): string {
  try {
    const opened = openSync(file, 'r')
    try {
      const bytes = statSync(file).size
      const digest = createHash('sha256')
      const piece = Buffer.allocUnsafe(Math.max(1, Math.min(bytes, pieceBytes)))
      for (let done = 0;;) {
        report({ work: 'Hashing', file, bytes, done })
        const read = readSync(opened, piece)
        if (read === 0) return digest.digest('hex')
        digest.update(piece.subarray(0, read))
        done += read
      }
    } finally {
      closeSync(opened)
    }
  } catch (error) {
    throw readFault(error, file)
  }
}
