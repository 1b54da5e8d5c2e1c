/** The command `heddle backup`: copies all data into a file, while a server runs or not. */

import { resolve } from 'node:path'

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { backUpStore } from '../server/operator/backup.ts'
import { runCommand, settingsOfPlace } from './admin-command.ts'
import type { TypedFormat } from './admin-command.ts'
import { progressLines } from './backup-progress.ts'
import { megabytes } from './megabytes.ts'
import type { ProjectCommandSource } from './project-command.ts'
import { runVerifyCommand } from './verify-command.ts'

interface Typed extends TypedFormat {
  readonly traces: boolean
}

/** Copies all data into the file that is named, or verifies a backup. Throws CommandError. */
export function runBackupCommand(source: ProjectCommandSource): Promise<void> {
  const [word, ...args] = source.args
  if (word === 'verify') return runVerifyCommand({ ...source, args })
  const command = new Command('heddle backup')
    .description(
      'Copies all data, as they are at one moment, into a new file, and checks that the copy can ' +
        'be restored. What ' +
        'prompts, datasets and queues hold goes into a second one, with .documents at its end, ' +
        'and traces into a third, with .traces. A manifest, with .manifest, has the hashes of ' +
        'these files. The key of secrets is in none of them.',
    )
    .addHelpText('after', '\n"heddle backup verify <backup>" checks the files of a backup.')
    .argument('<file>', 'Where to put it; nothing may be there yet.')
    .option('--no-traces', 'Leave traces out: they may be most of the bytes.')
    .action(async (file: string, { json, traces }: Typed) => {
      const settings = settingsOfPlace(source, command)
      const target = resolve(source.folder, file)
      const env = systemEnv({ level: 'error' })
      const files = await backUpStore(settings, target, { traces, env,
        report: progressLines(env, source.note) })
      const bytes = files.reduce((sum, each) => sum + each.bytes, 0)
      source.print(json
        ? `${JSON.stringify({ file: target, bytes, files })}\n`
        : `${target} has all data of ${settings.dataDirectory} (${megabytes(bytes)} MB).\n`)
    })
  return runCommand(command, source, 'say into which file')
}
