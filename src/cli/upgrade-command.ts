/** The command `heddle upgrade check`: finds out whether an upgrade to this program may begin. */

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { consultUpgrade } from '../server/doctor/consult-upgrade.ts'
import type { SettingName } from '../settings/index.ts'
import { clusterSettings, runCommand, settingsOfPlace } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'
import { reportFindings } from './findings-text.ts'

const settingNames: readonly SettingName[] = [...clusterSettings, 'ignoreAuth']

/** Prints a line for each check. Throws CommandError if one is bad. */
export function runUpgradeCommand(source: CommandSource): Promise<void> {
  const command = new Command('heddle upgrade')
    .description('Prepares an upgrade. Run it with the new program, before you start that.')
  command.command('check')
    .description('Says whether the members and tables that are there can be upgraded, and back.')
    .action(async ({ json = false }: TypedFormat, subcommand: Command) => {
      const settings = settingsOfPlace(source, subcommand, settingNames)
      const findings = await consultUpgrade(settings, systemEnv({ level: 'error' }))
      reportFindings(findings, { json, print: source.print })
    })
  return runCommand(command, source, 'say what about the upgrade: check', settingNames)
}
