/** What all commands have in common: settings as options, and the wording of mistakes. */

import type { Command, CommanderError } from 'commander'

import { knownSettings } from '../settings/index.ts'
import type { SettingName } from '../settings/index.ts'

/** Adds these settings as options; by default all. */
export function withSettings(command: Command,
  names = Object.keys(knownSettings) as readonly SettingName[]): Command {
  for (const name of names) {
    const { flags, variable, message } = knownSettings[name]
    command.option(flags, `${message} [${variable}]`)
  }
  return command
}

/** What is wrong with the options, as the beginning of a sentence. */
export function mistakeIn({ message }: CommanderError): string {
  return message.replace(/^error: /, '').replace(/\.$/, '').replace('\n', ' ')
}
