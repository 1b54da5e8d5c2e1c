/** The command `heddle secrets`: which keys stored secrets need, and sealing them anew. */

import { Command } from 'commander'

import type { SecretsSurvey } from '../platform/index.ts'
import { clusterSettings, CommandError, runCommand, withAdminAccess } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'

/** Checks or rekeys the secrets of all workspaces. Throws CommandError. */
export function runSecretsCommand(source: CommandSource): Promise<void> {
  const command = new Command('heddle secrets')
    .description('Checks the stored secrets of all workspaces. Shows no value.')
  const subcommand = (name: string, description: string, rekey: boolean) =>
    command.command(name).description(description)
      .action(({ json }: TypedFormat, subcommand: Command) =>
        withAdminAccess(source, subcommand, async ({ secrets }) => {
          const survey = await secrets.survey({ rekey })
          source.print(json ? `${JSON.stringify(survey)}\n` : textOf(survey, rekey))
          if (survey.unopened > 0) {
            throw new CommandError(
              `${survey.unopened} secrets were sealed with a key that is not ` +
                'in the file of --secrets-key: add it there, or set them anew.',
            )
          }
        }, { names: clusterSettings })
      )
  subcommand('check', 'Says how many there are, and whether the keys open them.', false)
  subcommand('rekey', 'Seals all with the first key in the file of --secrets-key.', true)
  return runCommand(command, source, 'say what about the secrets: check or rekey', clusterSettings)
}

function textOf({ stored, sealedWithOlder, rekeyed }: SecretsSurvey, rekey: boolean): string {
  return rekey
    ? `${rekeyed} of ${stored} secrets were sealed anew with the first key.\n`
    : `${stored} secrets, ${sealedWithOlder} of them sealed with an older key.\n`
}
