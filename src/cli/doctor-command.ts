/** The command `heddle doctor`: says what is wrong with a machine, its settings and its store. */

import { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { consultDoctor } from '../server/doctor/doctor.ts'
import { resolveSettings } from '../settings/index.ts'
import { runCommand } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'
import { settingNames, typedSettings } from './command-line.ts'
import { reportFindings } from './findings-text.ts'

/** Prints a line for each check. Throws CommandError if one is bad. */
export function runDoctorCommand(source: CommandSource): Promise<void> {
  const command = new Command('heddle doctor')
    .description(
      'Examines this machine, the settings and the store: give it the options of the server. ' +
        'It changes nothing.',
    )
    .option('--deep', 'Read all bytes of the revisions of deployments and of the last backup.')
    .action(async ({ json = false, deep = false }: TypedFormat & { readonly deep?: boolean }) => {
      const settings = resolveSettings({ ...source, options: typedSettings(command) })
      const findings = await consultDoctor(settings, systemEnv({ level: 'error' }), deep)
      reportFindings(findings, { json, print: source.print })
    })
  return runCommand(command, source, 'give the options of the server', settingNames)
}
