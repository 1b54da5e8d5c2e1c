/** The command `heddle upgrade`: says whether an upgrade may begin, and ends it. */

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { consultUpgrade } from '../server/doctor/consult-upgrade.ts'
import { openClusterOperator } from '../server/operator/cluster-operator.ts'
import { ownVersion } from '../settings/index.ts'
import type { SettingName } from '../settings/index.ts'
import { clusterSettings, CommandError, runCommand, settingsOfPlace } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'
import { reportFindings } from './findings-text.ts'

const settingNames: readonly SettingName[] = clusterSettings

/** Carries the command out. Throws CommandError if a check is bad, or the upgrade cannot end. */
export function runUpgradeCommand(source: CommandSource): Promise<void> {
  const command = new Command('heddle upgrade')
    .description('Begins and ends an upgrade. Run it with the new program.')
  command.command('check')
    .description('Says whether the members and tables that are there can be upgraded, and back.')
    .action(async ({ json = false }: TypedFormat, subcommand: Command) => {
      const settings = settingsOfPlace(source, subcommand, settingNames)
      const findings = await consultUpgrade(settings, systemEnv({ level: 'error' }))
      reportFindings(findings, { json, print: source.print })
    })
  command.command('finish')
    .description('Ends an upgrade of a cluster: there is no way back from then on.')
    .action((typed: TypedFormat, subcommand: Command) => finish(typed, subcommand, source))
  return runCommand(command, source, 'say what about the upgrade: check or finish', settingNames)
}

async function finish({ json = false }: TypedFormat, subcommand: Command,
  source: CommandSource): Promise<void> {
  const { cassandra } = settingsOfPlace(source, subcommand, settingNames)
  if (cassandra === null) {
    throw new CommandError(
      'A data directory has nothing to finish: only a cluster on Cassandra has.',
      'refused',
    )
  }
  const operator = await openClusterOperator(cassandra, systemEnv({ level: 'error' }))
  const tables = await operator.finishUpgrade().finally(() => operator.close())
  const text =
    `Programs that do not support version ${tables} of the tables are refused from now on. ` +
    'Restart the members one by one: each uses these tables from its next start on.\n'
  const version = ownVersion()
  source.print(json ? `${JSON.stringify({ version, tables }, null, 2)}\n` : text)
}
