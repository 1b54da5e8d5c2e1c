/** The command `heddle restore`: puts a backup into an empty data directory. */

import { resolve } from 'node:path'

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { restoreStore } from '../server/operator/backup.ts'
import type { Restored } from '../server/operator/backup.ts'
import { runCommand, settingsOfPlace } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'
import { megabytes } from './megabytes.ts'
import { stoppedText } from './stopped-text.ts'

/** Restores the backup that is named. Throws CommandError. */
export function runRestoreCommand(source: CommandSource): Promise<void> {
  let resumes = false
  const command = new Command('heddle restore')
    .description(
      'Puts a backup and the files beside it into an empty data directory, and checks them. ' +
        'Nothing goes on by itself: runs that were unfinished end as interrupted, their webhooks ' +
        'are given up, and crons and rules are disabled, for all of them may have had their ' +
        'effects after the backup was made.',
    )
    .argument('<file>', 'The backup.')
    .option('--go-on', 'Let the next server go on with runs, webhooks, crons and rules.')
    .action(async (file: string, { json }: TypedFormat) => {
      const settings = settingsOfPlace(source, command)
      const done = await restoreStore(settings, { backup: resolve(source.folder, file), resumes,
        env: systemEnv({ level: 'error' }) })
      const { dataDirectory } = settings
      source.print(json
        ? `${
          JSON.stringify({ directory: dataDirectory, bytes: done.bytes, stopped: done.stopped ??
            null })
        }\n`
        : restoredText(dataDirectory, done))
    })
    .on('option:go-on', () => {
      resumes = true
    })
  return runCommand(command, source, 'say which backup')
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
