/** The command `heddle secrets`: secrets of a deployment, and the keys that seal all secrets. */

import { Command } from 'commander'

import type { SecretsSurvey } from '../platform/index.ts'
import { clusterSettings, CommandError, runCommand, withAdminAccess } from './admin-command.ts'
import type { TypedFormat } from './admin-command.ts'
import type { ControlCommandSource } from './control/control-source.ts'
import { deploymentSecretsWords,
  runDeploymentSecretsCommand } from './control/deployment-secrets-command.ts'

/**
 * Lists, sets and removes secrets of a deployment, and checks or rekeys those of all workspaces and
 * deployments. Throws CommandError.
 */
export function runSecretsCommand(source: ControlCommandSource): Promise<void> {
  if (deploymentSecretsWords.includes(source.args[0] ?? '')) {
    return runDeploymentSecretsCommand(source)
  }
  const command = new Command('heddle secrets')
    .description('Sets the secrets of a deployment, and checks those of all. Shows no value.')
    .addHelpText('after', `
Commands for a deployment (each has --help):
  list     Lists the names of its secrets.
  set      Sets some, and starts fresh processes with them.
  remove   Removes some, and starts fresh processes without them.`)
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
  return runCommand(command, source, 'say what about the secrets: list, set or remove ' +
    'those of a deployment; check or rekey all', clusterSettings)
}

function textOf({ stored, sealedWithOlder, rekeyed }: SecretsSurvey, rekey: boolean): string {
  return rekey
    ? `${rekeyed} of ${stored} secrets were sealed anew with the first key.\n`
    : `${stored} secrets, ${sealedWithOlder} of them sealed with an older key.\n`
}
