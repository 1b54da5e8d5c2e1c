/** Puts a backup back into an empty data directory. Nothing can be started on a half of it. */

import { closeSync, constants, copyFileSync, chmodSync, existsSync, fsyncSync, mkdirSync, openSync,
  readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { HeddleError } from '../../../errors.ts'
import { writeAheadPath } from '../durable/index.ts'
import { Database } from '../file/database.ts'
import { diskError } from '../file/disk-error.ts'
import { schema } from '../requests/tables.ts'
import { checkBackup } from './backup-check.ts'
import type { ManifestUse } from './backup-check.ts'
import { backupParts, requireSound } from './backup-file.ts'
import type { ReportProgress } from './backup-file.ts'
import { isMarkedBackup, markBackup } from './backup-manifest.ts'

/** Path of a backup, and the data directory to restore it into. */
export interface RestoreOptions {
  /** Path of the backup, as `beginBackup` made it. */
  readonly backup: string
  readonly manifest: ManifestUse
  readonly report: ReportProgress
  /** The data directory. It need not exist; nothing may be in it. */
  readonly directory: string
}

/** A restored data directory that is not in its place yet. */
export interface Restoring {
  /** A whole data directory inside the one that is restored. */
  readonly draft: string
  readonly bytes: number
  /** False if there was no manifest to check the files against. */
  readonly isChecked: boolean
  /** Moves everything into its place. Nothing may have the draft open. */
  publish(): void
  /** Leaves the directory as it was. */
  discard(): void
}

/** Entries that an empty disk may have by itself. */
const ofTheSystem = ['lost+found']

/**
 * Checks a backup against its manifest before anything is written, copies it, and checks the copy.
 * Throws HeddleError: `not_found` if there is no backup, `exists` if the directory has something in
 * it, `unsupported` if a newer program made the backup, `unavailable` if a file of it is damaged,
 * missing or of another backup, or if the disk cannot take it. Blocks its thread for seconds.
 */
export function beginRestore(
  { backup, directory, manifest, report }: RestoreOptions,
): Restoring {
  requireEmpty(directory)
  const isChecked = checkBackup(backup, manifest, report)
  const place = resolve(directory)
  const draft = join(place, `restoring-${process.pid}`)
  const barrier = writeAheadPath(join(place, 'heddle.db'))
  const discard = () => {
    rmSync(draft, { recursive: true, force: true })
    rmSync(barrier, { force: true })
  }
  makeDraft(draft, place)
  try {
    // A server that is started meanwhile, or after a kill, refuses to begin anew here.
    writeFileSync(barrier, '', { mode: 0o600 })
    const files = [{ from: backup, name: 'heddle.db' }, ...backupParts.map(({ name, ending }) => ({
      from: `${backup}${ending}`,
      name,
    })).filter(({ from }) => existsSync(from))]
    let bytes = 0
    for (const { from, name } of files) bytes += copySound(from, join(draft, name), report)
    requireUsable(join(draft, 'heddle.db'))
    return { draft, bytes, isChecked, discard, publish: () => publish(draft, place, barrier) }
  } catch (error) {
    discard()
    throw diskError(error, place)
  }
}

function makeDraft(draft: string, place: string): void {
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw diskError(error, place)
  }
}

function requireEmpty(directory: string): void {
  const found = existsSync(directory)
    ? readdirSync(directory).filter((name) => !ofTheSystem.includes(name))
    : []
  if (found.length === 0) return
  throw new HeddleError('exists', `${directory} is not empty (${found.slice(0, 3).join(', ')}), ` +
    'and is left as it is: name an empty folder, or one that does not exist.')
}

function copySound(from: string, to: string, report: ReportProgress): number {
  const bytes = statSync(from).size
  report({ work: 'Copying', file: from, bytes, done: 0 })
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, 0o600)
  report({ work: 'Checking', file: to, bytes, done: 0 })
  requireSound(to)
  return bytes
}

/** Throws if this program cannot work with the file, or if it is of another program. */
function requireUsable(file: string): void {
  const database = new Database(file)
  try {
    const [known] = database.prepare<[number]>(
      "SELECT count(*) FROM sqlite_schema WHERE name = 'life'",
    ).get()!
    if (known === 0) throw new HeddleError('invalid', 'This is no backup of Heddle.')
  } finally {
    database.close()
  }
  new Database(file, schema).close()
  if (isMarkedBackup(file)) markBackup(file, false)
}

/** The write-ahead file goes last: without its database, it keeps a server from beginning anew. */
function publish(draft: string, place: string, barrier: string): void {
  const order = [...backupParts.map(({ name }) => name), 'heddle.db']
  try {
    for (const name of order) {
      const from = join(draft, name)
      if (!existsSync(from)) continue
      toDisk(from)
      renameSync(from, join(place, name))
    }
    rmSync(draft, { recursive: true, force: true })
    toDisk(place)
    rmSync(barrier)
  } catch (error) {
    throw diskError(error, place)
  }
}

function toDisk(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } catch {
    // Some systems do that for folders by themselves, and refuse this.
  } finally {
    closeSync(file)
  }
}
