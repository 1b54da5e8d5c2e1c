/** What all commands have in common: settings as options, and the wording of mistakes. */

import { Option } from 'commander'
import type { Command, CommanderError } from 'commander'

import { knownSettings, settingGroups } from '../settings/index.ts'
import type { SettingName } from '../settings/index.ts'

/** Adds settings as options, under the headings of their groups or under one heading. */
export function withSettings(command: Command, names: readonly SettingName[],
  heading?: string): Command {
  for (const name of names) {
    const { group } = knownSettings[name]
    command.addOption(optionOf(name).helpGroup(`${heading ?? settingGroups[group].heading}:`))
  }
  return command
}

/** Adds all settings. */
export function withAllSettings(command: Command): Command {
  return withSettings(command, Object.keys(knownSettings) as SettingName[])
}

/**
 * The options that were typed. Defaults and variables, which commander reads as well, are left
 * out: `resolveSettings` takes the environment as an argument, reads `no` and files of secrets,
 * and names all mistakes at once.
 */
export function typedOptions<Options extends object>(command: Command): Partial<Options> {
  const options = Object.entries(command.opts<Record<string, unknown>>())
  return Object.fromEntries(options
    .filter(([name]) => command.getOptionValueSource(name) === 'cli')) as Partial<Options>
}

/** What is wrong with the options, as the beginning of a sentence. */
export function mistakeIn({ message }: CommanderError): string {
  return message.replace(/^error: /, '').replace(/\.$/, '').replace('\n', ' ')
}

/** A setting as commander knows it, for `--help`. */
function optionOf(name: SettingName): Option {
  const { flags, variable, message, kind: { choices }, usual } = knownSettings[name]
  const option = new Option(flags, plain(message)).env(variable)
  // The words are for --help; `resolveSettings` checks them.
  if (choices) option.choices(choices).argParser((text) => text)
  return usual === '' ? option : option.default(usual, plain(usual))
}

/** Markdown without its marks. */
function plain(text: string): string {
  return text.replaceAll('`', '')
}
