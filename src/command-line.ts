/** What all our commands have in common: options that are settings, and how a mistake is told. */

import type { Command, CommanderError } from 'commander'

import { knownSettings } from './known-settings.ts'
import type { SettingName } from './known-settings.ts'

/** Unless told, all of them. */
export function withSettings(command: Command,
  names = Object.keys(knownSettings) as readonly SettingName[]): Command {
  for (const name of names) {
    const { flags, variable, sentence } = knownSettings[name]
    command.option(flags, `${sentence} [${variable}]`)
  }
  return command
}

/** What was typed wrong, as the beginning of a sentence. */
export function mistakeIn({ message }: CommanderError): string {
  return message.replace(/^error: /, '').replace(/\.$/, '').replace('\n', ' ')
}
