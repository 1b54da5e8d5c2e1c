/**
 * The manifest of a backup: its files with their sizes and hashes. It is written last, so a backup
 * with a manifest is complete.
 */

import { hash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readSync,
  writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import { HeddleError, messageOf } from '../../../errors.ts'
import { isList, isObject } from '../../../json/index.ts'
import { diskError } from '../file/disk-error.ts'
import { backupEndings, countedTables } from './backup-file.ts'
import type { BackupEnding } from './backup-file.ts'

/** A file of a backup, as it was when the backup was made. */
export interface ManifestFile {
  /** The part of its name that follows the name of the backup. */
  readonly ending: BackupEnding
  readonly bytes: number
  readonly sha256: string
  /** Numbers of rows by table. */
  readonly rows: Readonly<Record<string, number>>
}

/** Contents of the manifest. */
export interface BackupManifest {
  readonly format: 1
  /** The program that made the backup, with its build. */
  readonly program: string
  /** The moment of the backup, in milliseconds since 1970. */
  readonly atMs: number
  /** False if traces were left out. */
  readonly traces: boolean
  readonly files: readonly ManifestFile[]
}

/** Ending of a manifest, after the name of its backup. */
export const manifestEnding = '.manifest'

const format = 1

/**
 * Bytes 68 to 71 of the header of SQLite: the application id. A backup with this id has a manifest,
 * so a manifest that is missing was lost.
 */
const markOffset = 68
const backupMark = 0x48_44_4c_42

/** Marks a copy of `heddle.db` as a backup with a manifest, or removes the mark. */
export function markBackup(file: string, isMarked: boolean): void {
  const database = new DatabaseSync(file)
  try {
    database.exec(`PRAGMA application_id = ${isMarked ? backupMark : 0}`)
  } finally {
    database.close()
  }
}

/** True if the file was marked by `markBackup`. */
export function isMarkedBackup(file: string): boolean {
  const header = Buffer.alloc(markOffset + 4)
  try {
    const opened = openSync(file, 'r')
    try {
      readSync(opened, header, 0, header.length, 0)
    } finally {
      closeSync(opened)
    }
  } catch (error) {
    throw readFault(error, file)
  }
  return header.readUInt32BE(markOffset) === backupMark
}

/** The error of a file of a backup that cannot be read. */
export function readFault(error: unknown, file: string): HeddleError {
  if (error instanceof HeddleError) return error
  return new HeddleError('unavailable', `${file} cannot be read: ${messageOf(error)}.`, {}, {
    cause: error,
  })
}

/** Returns the numbers of rows of a copied database. */
export function countRows(file: string): Readonly<Record<string, number>> {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const isThere = database.prepare(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?",
    )
    return Object.fromEntries(
      countedTables.filter((table) => isThere.get(table) !== undefined).map((table) => [
        table,
        Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']),
      ]),
    )
  } finally {
    database.close()
  }
}

/** Writes the manifest to a file that is empty, and waits until it is on disk. */
export function writeManifest(file: string, manifest: BackupManifest): void {
  try {
    writeFileSync(file, `${JSON.stringify({ ...manifest, check: checkOf(manifest) }, null, 2)}\n`)
    const opened = openSync(file, 'r+')
    try {
      fsyncSync(opened)
    } finally {
      closeSync(opened)
    }
  } catch (error) {
    throw diskError(error, file)
  }
}

/**
 * Reads the manifest of a backup; undefined if it has none. Throws HeddleError: `unavailable` if it
 * is damaged, `unsupported` if a newer program wrote it.
 */
export function readManifest(backup: string): BackupManifest | undefined {
  const file = `${backup}${manifestEnding}`
  if (!existsSync(file)) return undefined
  const { check, ...manifest } = valueOf(file)
  if (manifest['format'] !== format && typeof manifest['format'] === 'number') {
    throw new HeddleError('unsupported', `${file} was written by a newer program ` +
      `(${String(manifest['program'])}): use that program.`)
  }
  if (isManifest(manifest) && check === checkOf(manifest)) return manifest
  throw damaged(file)
}

function valueOf(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw readFault(error, file)
  }
  throw damaged(file)
}

/** A manifest whose check is right was written by `writeManifest`, so few fields are looked at. */
function isManifest(value: Record<string, unknown>): value is BackupManifest & typeof value {
  const { files } = value
  return isList(files) &&
    files.every((each) => isObject(each) && backupEndings.includes(each['ending'] as BackupEnding))
}

function checkOf(manifest: object): string {
  return hash('sha256', JSON.stringify(manifest))
}

function damaged(file: string): HeddleError {
  return new HeddleError('unavailable', `${file} is damaged: take another backup, or restore ` +
    'what is there with --without-manifest.')
}
