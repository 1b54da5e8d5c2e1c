/** Backups of what a server stores, and what a restored one may go on with, for operators. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, messageOf } from '../../errors.ts'
import { ownVersion } from '../../settings/index.ts'
import type { Settings } from '../../settings/index.ts'
import { beginBackup, beginRestore, openEmbeddedStore } from '../../store/embedded/index.ts'
import type { BackupFile, ManifestUse, ReportProgress } from '../../store/embedded/index.ts'
export { verifyBackup } from '../../store/embedded/index.ts'
export type { BackupManifest, BackupProgress, ReportProgress } from '../../store/embedded/index.ts'
import { placeOfStore } from './operator-actors.ts'
import { stopRestored } from './stop-restored.ts'
import type { Stopped } from './stop-restored.ts'

/** The last backup of a data directory, as its command noted it. */
export interface LastBackup {
  readonly file: string
  readonly atMs: number
}

const noteName = 'last-backup.json'

/**
 * Backs up a data directory, and restores the backup once to see that it can be. Returns its files.
 * Throws HeddleError with a message, and leaves nothing behind, if there can be no backup.
 */
export async function backUpStore({ cassandra, dataDirectory: directory }: Settings, target: string,
  { env, traces, report }: { readonly env: Env; readonly traces: boolean;
    readonly report: ReportProgress }
): Promise<
  readonly BackupFile[]
> {
  if (cassandra !== null) {
    const { keyspace } = cassandra
    throw new HeddleError('unsupported',
      'The data are in Cassandra, which makes its own backups: ' +
        `run "nodetool snapshot ${keyspace} ${keyspace}_control" on each of its nodes.`)
  }
  const note: LastBackup = { file: target, atMs: env.nowMs() }
  const { draft, publish, discard } = beginBackup({ directory, target, traces, report,
    atMs: note.atMs, program: `heddle ${ownVersion()}` })
  try {
    await requireRestorable(draft, { env, report })
    const files = publish()
    noteBackup(directory, note)
    return files
  } finally {
    discard()
  }
}

/** Restores it beside itself. Its other files need no more than the check that they have had. */
async function requireRestorable(backup: string,
  { env, report }: Pick<RestoreRequest, 'env' | 'report'>): Promise<void> {
  const directory = `${backup}-trial`
  try {
    const { draft, discard } = beginRestore({ backup, directory, report, manifest: 'ignored' })
    try {
      await stopIn(draft, env)
    } finally {
      discard()
    }
  } catch (error) {
    const reason = messageOf(error)
    throw new HeddleError('unavailable', `A backup was made, but it cannot be restored, so it is ` +
      `not kept: ${reason}`, {}, { cause: error })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The last backup that was made of a directory; undefined if none is known. */
export function lastBackup(directory: string): LastBackup | undefined {
  const file = join(directory, noteName)
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LastBackup
  } catch {
    return undefined
  }
}

/** Result of a restore. `stopped` is undefined if unfinished work goes on. */
export interface Restored {
  readonly bytes: number
  /** False if there was no manifest to check the backup against. */
  readonly isChecked: boolean
  readonly stopped: Stopped | undefined
}

/** Backup to restore, and the fate of its unfinished work. */
export interface RestoreRequest {
  readonly backup: string
  /** True if the next server continues the unfinished work. */
  readonly resumes: boolean
  readonly manifest: ManifestUse
  readonly env: Env
  readonly report: ReportProgress
}

/**
 * Restores a backup into an empty data directory. Its unfinished work is stopped before the
 * directory can be started. Throws HeddleError with a message, and leaves the directory empty then.
 */
export async function restoreStore({ cassandra, dataDirectory: directory }: Settings,
  { backup, resumes, manifest, env, report }: RestoreRequest): Promise<Restored> {
  if (cassandra !== null) {
    throw new HeddleError('unsupported', 'The data are in Cassandra: restore its snapshots, then ' +
      'run "heddle restored".')
  }
  const { draft, bytes, isChecked, publish, discard } = beginRestore({ backup, directory, manifest,
    report })
  try {
    const stopped = resumes ? undefined : await stopIn(draft, env)
    publish()
    return { bytes, isChecked, stopped }
  } catch (error) {
    discard()
    throw error
  }
}

async function stopIn(directory: string, env: Env): Promise<Stopped> {
  const store = await openEmbeddedStore({ directory, env })
  try {
    return await stopRestored({ ...store, ...await placeOfStore(store, env), everybody: store,
      begin: () => store.unfinished() }, env)
  } finally {
    await store.close()
  }
}

function noteBackup(directory: string, note: LastBackup): void {
  try {
    writeFileSync(join(directory, noteName), JSON.stringify(note), { mode: 0o600 })
  } catch {
    // A user who may only read the directory can make backups all the same.
  }
}
