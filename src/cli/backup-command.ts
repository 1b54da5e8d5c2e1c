/** The command `heddle backup`: copies all data into a file, while a server runs or not. */

import { resolve } from 'node:path'

import { Command } from 'commander'

import { backUpStore } from '../server/backup.ts'
import { runCommand, settingsOfPlace } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'

/** Copies all data into the file that is named. Throws CommandError. */
export function runBackupCommand(source: CommandSource): Promise<void> {
  const command = new Command('heddle backup')
    .description(
      'Copies all data, as they are at one moment, into a new file. What prompts, datasets ' +
        'and queues hold goes into a second one, with .documents at its end.',
    )
    .argument('<file>', 'Where to put it; nothing may be there yet.')
    .action((file: string, typed: TypedFormat) => {
      const settings = settingsOfPlace(source, command)
      const target = resolve(source.folder, file)
      const { bytes } = backUpStore(settings, target)
      source.print(typed.json
        ? `${JSON.stringify({ file: target, bytes })}\n`
        : `${target} has all data of ${settings.dataDirectory} (${megabytes(bytes)} MB).\n`)
    })
  return runCommand(command, source, 'say into which file')
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}
