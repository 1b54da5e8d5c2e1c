/**
 * A backup of a data directory: all writes that were acknowledged before its start. It has one file
 * and a manifest, and further files if there are documents and traces.
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
import { diskError, isFull } from '../file/disk-error.ts'
import { schema, Tables } from '../requests/tables.ts'
import { hashFile } from './backup-check.ts'
import { backupParts, requireSound } from './backup-file.ts'
import type { BackupEnding, ReportProgress } from './backup-file.ts'
import { countRows, manifestEnding, markBackup, writeManifest } from './backup-manifest.ts'
import type { BackupManifest } from './backup-manifest.ts'

/** Data directory to back up, the path of the backup, and contents of its manifest. */
export interface BackupOptions extends Pick<BackupManifest, 'program' | 'atMs'> {
  readonly directory: string
  /** Path of the backup. Nothing may be there yet. */
  readonly target: string
  readonly report: ReportProgress
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

/** A file on its way from a draft to its place. */
interface Draft {
  readonly target: string
  readonly draft: string
}

interface Part extends Draft {
  readonly from: string
  readonly ending: BackupEnding
}

/**
 * Copies everything as it is at one moment, and checks the copies. A server may keep writing to the
 * directory. Documents and traces are copied after that moment, to the target with another ending:
 * documents are written before their records. The files are on disk and for their owner only.
 * Throws HeddleError: `exists` if something is at a target, `unavailable` if the directory or the
 * target cannot be used. Blocks its thread for seconds.
 */
export function beginBackup(options: BackupOptions): BackingUp {
  const { directory, target, traces = true, report } = options
  const file = join(resolve(directory), 'heddle.db')
  if (!existsSync(file)) {
    throw new HeddleError('not_found', `There is no ${file}: name the data directory of the ` +
      'server.')
  }
  const main = partOf(file, target, '')
  const beside = backupParts.map(({ name, ending }) =>
    partOf(join(resolve(directory), name), target, ending)
  )
  const manifest = draftOf(`${target}${manifestEnding}`)
  for (const each of [main, ...beside, manifest]) {
    if (existsSync(each.target)) throw taken(each.target)
  }
  const drafts: string[] = []
  const discard = () => drafts.forEach(removeDraft)
  try {
    const begin = ({ draft }: Draft) => {
      makeDraft(draft)
      drafts.push(draft)
    }
    const made = (part: Part, finish = () => {}): Part => {
      begin(part)
      copy(part, report)
      finish()
      settle(part, report)
      return part
    }
    // The write-ahead file comes first: what is removed from it later is in the database by then.
    const records = readWriteAhead(file)
    made(main, () => {
      addMissing(main.draft, file, records)
      markBackup(main.draft, true)
    })
    const more = beside.filter(({ from }) =>
      existsSync(from) && (traces || !from.endsWith('traces.db'))
    ).map((part) => made(part))
    const parts = [main, ...more]
    begin(manifest)
    writeManifest(manifest.draft, manifestOf(parts, options))
    return { draft: main.draft, discard, publish: () => publishAll(parts, manifest, discard) }
  } catch (error) {
    discard()
    throw diskError(error, target)
  }
}

function draftOf(target: string): Draft {
  return { target, draft: `${target}-${process.pid}` }
}

function partOf(from: string, target: string, ending: BackupEnding): Part {
  return { from, ending, ...draftOf(`${target}${ending}`) }
}

function manifestOf(parts: readonly Part[],
  { program, atMs, traces = true, report }: BackupOptions): BackupManifest {
  const files = parts.map(({ ending, draft }) => ({ ending, bytes: statSync(draft).size,
    sha256: hashFile(draft, report), rows: countRows(draft) })
  )
  return { format: 1, program, atMs, traces, files }
}

/** Publishes the manifest last, because a backup with a manifest is complete. */
function publishAll(parts: readonly Draft[], manifest: Draft,
  discard: () => void): readonly BackupFile[] {
  const published: string[] = []
  try {
    const files = [...parts, manifest].map(({ draft, target }) => ({ file: target,
      bytes: statSync(draft).size })
    )
    for (const { draft, target } of [...parts.toReversed(), manifest]) {
      publish(draft, target)
      published.push(target)
    }
    return files
  } catch (error) {
    for (const file of published) rmSync(file, { force: true })
    throw error
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
function copy({ from, draft, target }: Part, report: ReportProgress): void {
  report({ work: 'Copying', file: from, bytes: statSync(from).size, done: 0 })
  try {
    const source = new DatabaseSync(from, { readOnly: true, timeout: patienceMs })
    try {
      source.prepare('VACUUM INTO ?').run(draft)
    } finally {
      source.close()
    }
  } catch (error) {
    // Only the copy is written.
    throw diskError(error, isFull(error) ? target : from)
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
function settle({ draft, target }: Part, report: ReportProgress): void {
  report({ work: 'Checking', file: target, bytes: statSync(draft).size, done: 0 })
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
