/**
 * A backup of a data directory: all that was acknowledged before it began. It is one file, with
 * more beside it if there are documents and traces.
 */

import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync,
  statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { HeddleError } from '../../../errors.ts'
import { memberOf } from '../../../json/index.ts'
import { catchUp, readWriteAhead } from '../durable/index.ts'
import type { WriteAheadRecord } from '../durable/index.ts'
import { Database } from '../file/database.ts'
import { diskError } from '../file/disk-error.ts'
import { schema, Tables } from '../requests/tables.ts'
import { backupParts, requireSound } from './backup-file.ts'

/** Data directory to back up, and the path of the backup. */
export interface BackupOptions {
  readonly directory: string
  /** Path of the backup. Nothing may be there yet. */
  readonly target: string
  /** True, the default, if traces are part of it. */
  readonly traces?: boolean
}

/** A file of a backup. */
export interface BackupFile {
  readonly file: string
  readonly bytes: number
}

/** A backup that is not in its place yet. It must be published or discarded. */
export interface BackingUp {
  /** The copy of `heddle.db`, beside the target. */
  readonly draft: string
  /** Puts the files into their places. Returns them, the target first. */
  publish(): readonly BackupFile[]
  /** Leaves nothing behind; does nothing after `publish`. */
  discard(): void
}

/** Time to wait for another program that has the file for itself alone. */
const patienceMs = 10_000

interface Part {
  readonly from: string
  readonly target: string
  readonly draft: string
}

/**
 * Copies everything as it is at one moment, and checks the copies. A server may keep writing to the
 * directory. Documents and traces are copied after that moment, to the target with another ending:
 * documents are written before their records. The files are on disk and for their owner only.
 * Throws HeddleError: `exists` if something is at a target, `unavailable` if the directory or the
 * target cannot be used. Blocks its thread for seconds.
 */
export function beginBackup({ directory, target, traces = true }: BackupOptions): BackingUp {
  const file = join(resolve(directory), 'heddle.db')
  if (!existsSync(file)) {
    throw new HeddleError('not_found', `There is no ${file}: name the data directory of the ` +
      'server.')
  }
  const main = partOf(file, target)
  const beside = backupParts.map(({ name, ending }) =>
    partOf(join(resolve(directory), name), `${target}${ending}`)
  )
  for (const each of [main, ...beside]) if (existsSync(each.target)) throw taken(each.target)
  const drafts: string[] = []
  const discard = () => drafts.forEach(removeDraft)
  try {
    const made = (part: Part, copyPart: () => void): Part => {
      makeDraft(part.draft)
      drafts.push(part.draft)
      copyPart()
      settle(part.draft)
      return part
    }
    // The write-ahead file comes first: what is removed from it later is in the database by then.
    const records = readWriteAhead(file)
    made(main, () => {
      copy(file, main.draft)
      addMissing(main.draft, file, records)
    })
    const more = beside.filter(({ from }) =>
      existsSync(from) && (traces || !from.endsWith('traces.db'))
    ).map((part) => made(part, () => copy(part.from, part.draft)))
    return { draft: main.draft, discard, publish: () => publishAll([main, ...more], discard) }
  } catch (error) {
    discard()
    throw error
  }
}

function partOf(from: string, target: string): Part {
  return { from, target, draft: `${target}-${process.pid}` }
}

/** Publishes the main file last: whoever finds it finds all parts. */
function publishAll(parts: readonly Part[], discard: () => void): readonly BackupFile[] {
  try {
    const files = parts.map(({ draft, target }) => ({ file: target, bytes: statSync(draft).size }))
    for (const { draft, target } of parts.toReversed()) publish(draft, target)
    return files
  } finally {
    discard()
  }
}

function removeDraft(draft: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    rmSync(`${draft}${suffix}`, { force: true })
}

/**
 * Copies the file. One statement is one read transaction, so it and writers do not wait for each
 * other.
 */
function copy(file: string, draft: string): void {
  try {
    const source = new DatabaseSync(file, { readOnly: true, timeout: patienceMs })
    try {
      source.prepare('VACUUM INTO ?').run(draft)
    } finally {
      source.close()
    }
  } catch (error) {
    throw diskError(error, file)
  }
}

/**
 * Adds acknowledged writes that are only in the write-ahead file, for a moment or after a crash.
 */
function addMissing(draft: string, file: string, records: readonly WriteAheadRecord[]): void {
  if (records.length === 0) return
  try {
    const database = new Database(draft, schema)
    try {
      catchUp({ file, database, tables: new Tables(database) }, records)
    } finally {
      database.close()
    }
  } catch (error) {
    throw diskError(error, draft)
  }
}

/** Makes the file for its owner only from the first moment on. SQLite fills an empty file. */
function makeDraft(draft: string): void {
  try {
    closeSync(openSync(draft, 'wx', 0o600))
  } catch (error) {
    throw new HeddleError('unavailable', `${dirname(draft)} cannot be written to: name a file in ` +
      'a folder where this user may write.', {}, { cause: error })
  }
}

/** Checks that a copy can be read, and waits until it is on disk. */
function settle(draft: string): void {
  requireSound(draft)
  const file = openSync(draft, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Publishes the backup. A link fails if something is at the target, even if it came just now. */
function publish(draft: string, target: string): void {
  try {
    linkSync(draft, target)
  } catch (error) {
    if (memberOf(error, 'code') === 'EEXIST') throw taken(target)
    // Some file systems have no links.
    renameSync(draft, target)
  }
  try {
    const folder = openSync(dirname(target), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } catch {
    // Some systems do that by themselves, and refuse this.
  }
}

function taken(target: string): HeddleError {
  return new HeddleError('exists', `${target} exists already, and is left as it is: name another ` +
    'file.')
}
