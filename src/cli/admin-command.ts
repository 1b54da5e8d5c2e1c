/** What operator commands have in common: finding the store, and reporting mistakes. */

import { existsSync } from 'node:fs'

import { CommanderError } from 'commander'
import type { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { CodedError } from '../errors.ts'
import { openAdminAccess } from '../server/admin-access.ts'
import type { AdminAccess } from '../server/admin-access.ts'
import { knownSettings, resolveSettings, SettingsError } from '../settings/index.ts'
import type { SettingName, Settings, SettingsSource } from '../settings/index.ts'
import { mistakeIn, typedSettings, withSettings } from './command-line.ts'

/** Where a command gets its arguments and settings, and where it prints. */
export interface CommandSource extends Omit<SettingsSource, 'options'> {
  /** What was typed after the name of the command. */
  readonly args: readonly string[]
  print(text: string): void
}

/** The command cannot be done. Its message has one or more sentences, a line each. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** The settings that say where the store is. */
const placeSettings = ['config', 'data', 'store', 'contactPoints', 'localDatacenter', 'keyspace',
  'cassandraUser', 'cassandraPassword', 'tlsCa', 'tlsCert', 'tlsKey',
  'region'] as const satisfies readonly SettingName[]

/** An option that all operator commands have, besides those of the place. */
export interface TypedFormat {
  readonly json?: boolean
}

/**
 * Gives a command the options that all have, and runs it. Throws CommandError; `incomplete` says
 * what is missing if nothing is given.
 */
export async function runCommand(command: Command, { args, print }: CommandSource,
  incomplete: string): Promise<void> {
  for (const each of [command, ...command.commands]) {
    each.helpOption('-h, --help', 'Print this help.').exitOverride()
      .configureOutput({ writeOut: print, writeErr: () => {} })
  }
  for (const each of command.commands.length > 0 ? command.commands : [command]) {
    each.option('--json', 'Answer in JSON.')
    withSettings(each, placeSettings, 'Where the data is')
  }
  const help = `see ${command.name().replace('heddle ', '')} --help`
  try {
    await command.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return
      if (error.code === 'commander.help') throw new CommandError(`${incomplete}; ${help}`)
      throw new CommandError(`${mistakeIn(error)}; ${help}`)
    }
    if (error instanceof CodedError || error instanceof SettingsError) {
      throw new CommandError(error.message)
    }
    throw error
  }
}

/** Resolves the settings that say where the store is; all others have their defaults. */
export function settingsOfPlace(source: CommandSource, command: Command): Settings {
  // Other variables are for servers: a mistake in one of them must not matter here.
  const environment = Object.fromEntries(placeSettings.flatMap((name) => {
    const { variable, isSecret } = knownSettings[name]
    return [variable, ...isSecret ? [`${variable}_FILE`] : []]
      .map((each) => [each, source.environment[each]])
  }))
  return resolveSettings({ ...source, environment, options: typedSettings(command) })
}

/** Opens the store while `work` is done. With `begins`, the store need not exist yet. */
export async function withAdminAccess(source: CommandSource, command: Command,
  work: (admin: AdminAccess) => Promise<void>, { begins = false } = {}): Promise<void> {
  const settings = settingsOfPlace(source, command)
  const { cassandra, dataDirectory: directory } = settings
  if (!begins && cassandra === null && !existsSync(directory)) {
    throw new CommandError(`There is no data directory ${directory}: name the one of the server.`)
  }
  const adminAccess = await openAdminAccess(settings, systemEnv({ level: 'warn' }))
  try {
    await work(adminAccess)
  } finally {
    await adminAccess.close()
  }
}
