/** The command `heddle backup verify`: checks the files of a backup. Writes nothing. */

import { basename, resolve } from 'node:path'

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { timeText } from '../json/index.ts'
import { verifyBackup } from '../server/operator/backup.ts'
import type { BackupManifest } from '../server/operator/backup.ts'
import { runCommand } from './admin-command.ts'
import type { TypedFormat } from './admin-command.ts'
import { progressLines } from './backup-progress.ts'
import { megabytes } from './megabytes.ts'
import type { ProjectCommandSource } from './project-command.ts'
import { tableOf } from './table.ts'

/** Verifies the backup that is named. Throws CommandError. */
export function runVerifyCommand(source: ProjectCommandSource): Promise<void> {
  const command = new Command('heddle backup verify')
    .description(
      'Compares all files of a backup with its manifest, which has their sizes and hashes, and ' +
        'prints what the backup has. The exit code is 1 if a file is damaged, missing, of ' +
        'another backup or too many.',
    )
    .argument('<backup>', 'The backup, without the endings of its other files.')
    .action((name: string, { json }: TypedFormat) => {
      const backup = resolve(source.folder, name)
      const env = systemEnv({ level: 'error' })
      const manifest = verifyBackup(backup, progressLines(env, source.note))
      source.print(json
        ? `${JSON.stringify({ backup, ...jsonOf(backup, manifest) })}\n`
        : textOf(backup, manifest))
    })
  return runCommand(command, source, 'say which backup', [])
}

function jsonOf(backup: string, { program, atMs, traces, files }: BackupManifest): object {
  return { program, at: timeText(atMs), traces,
    files: files.map(({ ending, ...rest }) => ({ file: `${backup}${ending}`, ...rest })) }
}

function textOf(backup: string, { program, atMs, traces, files }: BackupManifest): string {
  const rows = files.map(({ ending, bytes, sha256, rows }) => [
    `${basename(backup)}${ending}`,
    megabytes(bytes),
    sha256,
    Object.entries(rows).map(([table, count]) => `${table} ${count}`).join(', '),
  ])
  return [
    `${backup} is whole. Made at ${timeText(atMs)} by ${program}` +
    `${traces ? '' : ', without traces'}.\n\n`,
    tableOf([['file', 'MB', 'SHA-256', 'rows'], ...rows]),
  ].join('')
}
