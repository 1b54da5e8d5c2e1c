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
import { mistakeIn, withSettings } from './command-line.ts'

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

/** The options that all operator commands have. */
export interface TypedPlace extends Partial<Record<typeof placeSettings[number], string>> {
  readonly json?: boolean
}

export function withPlace(command: Command): Command {
  return withSettings(command, placeSettings).option('--json', 'Answer in JSON.')
}

/** Runs a command. Throws CommandError; `incomplete` says what is missing if nothing is given. */
export async function runCommand(command: Command, { args, print }: CommandSource,
  incomplete: string): Promise<void> {
  for (const each of [command, ...command.commands]) {
    each.exitOverride().configureOutput({ writeOut: print, writeErr: () => {} })
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

/** The settings that say where the store is; all others have their defaults. */
export function settingsOfPlace(source: CommandSource, typed: TypedPlace): Settings {
  const options = Object.fromEntries(
    placeSettings.flatMap((name) => typed[name] === undefined ? [] : [[name, typed[name]]]),
  )
  // Other variables are for servers: a mistake in one of them must not matter here.
  const environment = Object.fromEntries(placeSettings.flatMap((name) => {
    const { variable, isSecret } = knownSettings[name]
    return [variable, ...isSecret ? [`${variable}_FILE`] : []]
      .map((each) => [each, source.environment[each]])
  }))
  return resolveSettings({ ...source, environment, options })
}

/** Opens the store while `work` is done; with `begins`, also one that does not exist yet. */
export async function withAdminAccess(source: CommandSource, typed: TypedPlace,
  work: (admin: AdminAccess) => Promise<void>, { begins = false } = {}): Promise<void> {
  const settings = settingsOfPlace(source, typed)
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
