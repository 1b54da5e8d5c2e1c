/** Shared parts of all commands: settings as options, and messages for mistakes. */

import { Option } from 'commander'
import type { Command, CommanderError } from 'commander'

import { namesIn } from '../json/index.ts'
import { knownSettings, settingGroups } from '../settings/index.ts'
import type { SettingName, SettingsSource } from '../settings/index.ts'

/** Names of all settings, which are also those of options. */
export const settingNames = namesIn(knownSettings)

/** Adds settings as options, by default all: under the headings of their groups, or under one. */
export function withSettings(command: Command, names = settingNames, heading?: string): Command {
  for (const name of names) {
    const { group } = knownSettings[name]
    command.addOption(optionOf(name).helpGroup(`${heading ?? settingGroups[group].heading}:`))
  }
  return command
}

/**
 * The settings that were typed. Commander also reads defaults and variables, for `--help`. These
 * are left out, because `resolveSettings` reads them by rules that commander lacks: an empty
 * variable counts as not set, `no` turns a switch off, `…_FILE` names the file of a secret, and
 * all mistakes are reported at once.
 */
export function typedSettings(command: Command): SettingsSource['options'] {
  const options: SettingsSource['options'] = command.opts()
  return Object.fromEntries(settingNames
    .filter((name) => command.getOptionValueSource(name) === 'cli')
    .map((name) => [name, options[name]]))
}

/** The mistake in the options, as the beginning of a sentence. */
export function mistakeIn({ message }: CommanderError): string {
  return message.replace(/^error: /, '').replace(/\.$/, '').replace('\n', ' ')
}

/** The option of a setting, with all that `--help` shows of it. */
function optionOf(name: SettingName): Option {
  const { flags, variable, message, kind: { choices }, usual } = knownSettings[name]
  const option = new Option(flags, plain(message)).env(variable)
  // Commander shows the choices in --help; `resolveSettings` checks them.
  if (choices) option.choices(choices).argParser((text) => text)
  return usual === '' ? option : option.default(usual, plain(usual))
}

/** Markdown without its marks. */
function plain(text: string): string {
  return text.replaceAll('`', '')
}
