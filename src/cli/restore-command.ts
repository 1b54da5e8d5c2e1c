/** The command `heddle restore`: puts a backup into an empty data directory. */

import { resolve } from 'node:path'

import { Command, Option } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { restoreStore } from '../server/operator/backup.ts'
import type { Restored } from '../server/operator/backup.ts'
import { runCommand, settingsOfPlace } from './admin-command.ts'
import type { TypedFormat } from './admin-command.ts'
import { progressLines } from './backup-progress.ts'
import { megabytes } from './megabytes.ts'
import type { ProjectCommandSource } from './project-command.ts'
import { stoppedText } from './stopped-text.ts'

interface Typed extends TypedFormat {
  readonly requireManifest?: boolean
  readonly withoutManifest?: boolean
}

/** Restores the backup that is named. Throws CommandError. */
export function runRestoreCommand(source: ProjectCommandSource): Promise<void> {
  let resumes = false
  const command = new Command('heddle restore')
    .description(
      'Checks all files of a backup, and puts them into an empty data directory. ' +
        'Nothing goes on by itself: runs that were unfinished end as interrupted, their webhooks ' +
        'are given up, experiments are cancelled, and crons and rules are disabled, for all of ' +
        'them may have had their effects after the backup was made.',
    )
    .argument('<file>', 'The backup.')
    .option('--go-on', 'Let the next server continue the unfinished work.')
    .option('--require-manifest', 'Refuse a backup without a manifest, of an earlier version.')
    .addOption(
      new Option('--without-manifest',
        'Restore the files that are there, also if the manifest is lost or does not fit them.')
        .conflicts('requireManifest'),
    )
    .action(async (file: string, typed: Typed) => {
      const { json, requireManifest, withoutManifest } = typed
      const settings = settingsOfPlace(source, command)
      const backup = resolve(source.folder, file)
      const manifest = requireManifest ? 'required' : withoutManifest ? 'ignored' : 'expected'
      const env = systemEnv({ level: 'error' })
      const done = await restoreStore(settings, { backup, resumes, env, manifest,
        report: progressLines(env, source.note) })
      const { dataDirectory } = settings
      if (!done.isChecked) source.note(uncheckedText(backup))
      source.print(json
        ? `${
          JSON.stringify({ directory: dataDirectory, bytes: done.bytes, stopped: done.stopped ??
            null, checked: done.isChecked })
        }\n`
        : restoredText(dataDirectory, done))
    })
    .on('option:go-on', () => {
      resumes = true
    })
  return runCommand(command, source, 'say which backup')
}

function uncheckedText(backup: string): string {
  return `heddle: ${backup} was restored without a manifest, so damaged or missing files may be ` +
    'unnoticed: --require-manifest refuses such a backup.\n'
}

function restoredText(directory: string, { bytes, stopped }: Restored): string {
  return [
    `${directory} has the data of the backup (${megabytes(bytes)} MB).`,
    stopped === undefined
      ? 'The next server goes on with what was unfinished.'
      : stoppedText(stopped),
    '',
  ].join('\n')
}
