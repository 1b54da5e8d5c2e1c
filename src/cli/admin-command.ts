/** Shared parts of operator commands: they find the store, and report mistakes. */

import { existsSync } from 'node:fs'

import { CommanderError } from 'commander'
import type { Command } from 'commander'

import { systemEnv } from '../../cluster/index.ts'
import { CodedError, HeddleError } from '../errors.ts'
import type { ErrorCode } from '../errors.ts'
import { openAdminAccess } from '../server/admin-access.ts'
import type { AdminAccess } from '../server/admin-access.ts'
import { knownSettings, resolveSettings, SettingsError } from '../settings/index.ts'
import type { SettingName, Settings, SettingsSource } from '../settings/index.ts'
import { mistakeIn, settingNames, typedSettings, withSettings } from './command-line.ts'

/** Arguments and settings of a command, and its output. */
export interface CommandSource extends Omit<SettingsSource, 'options'> {
  /** Words that were typed after the name of the command. */
  readonly args: readonly string[]
  print(text: string): void
}

/**
 * failed   what was asked for could not be done this time
 * misused  the arguments or settings make no sense
 * refused  it is not done with the data as they are
 */
export type CommandFault = 'failed' | 'misused' | 'refused'

/** The command cannot be done. Its message has one or more sentences, a line each. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly fault: CommandFault

  constructor(message: string, fault: CommandFault = 'failed') {
    super(message)
    this.fault = fault
  }
}

/** Names of the settings that locate the store. */
const placeSettings = ['config', 'data', 'store', 'contactPoints', 'localDatacenter', 'keyspace',
  'cassandraUser', 'cassandraPassword', 'tlsCa', 'tlsCert', 'tlsKey',
  'region'] as const satisfies readonly SettingName[]

/** Names of these settings, and of those for asking members and opening secrets. */
export const clusterSettings: readonly SettingName[] = [...placeSettings, 'clusterName',
  'clusterSecret', 'memberCa', 'memberCert', 'memberKey', 'secretsKey']

/** Errors after which the same command may succeed. All others say that it must not be done. */
const failures: readonly ErrorCode[] = ['unavailable', 'full', 'internal', 'not_owner']

/** An option that all operator commands have, besides those of the place. */
export interface TypedFormat {
  readonly json?: boolean
}

/**
 * Gives a command the options that all have, and runs it. Throws CommandError; `incomplete` says
 * what is missing if nothing is given. `names` are the settings that it takes.
 */
export async function runCommand(command: Command, { args, print }: CommandSource,
  incomplete: string, names: readonly SettingName[] = placeSettings): Promise<void> {
  for (const each of [command, ...command.commands]) {
    each.helpOption('-h, --help', 'Print this help.').exitOverride()
      .configureOutput({ writeOut: print, writeErr: () => {} })
  }
  for (const each of command.commands.length > 0 ? command.commands : [command]) {
    each.option('--json', 'Answer in JSON.')
    withSettings(each, names, names === settingNames ? undefined : 'Where the data is')
  }
  const help = `see ${command.name().replace('heddle ', '')} --help`
  try {
    await command.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return
      const mistake = error.code === 'commander.help' ? incomplete : mistakeIn(error)
      throw new CommandError(`${mistake}; ${help}`, 'misused')
    }
    if (error instanceof SettingsError) throw new CommandError(error.message, 'misused')
    if (error instanceof CodedError) throw asCommandError(error)
    throw error
  }
}

/** The end of a command that this error stopped. */
export function asCommandError(error: CodedError): CommandError {
  const { code, message } = HeddleError.from(error)
  return new CommandError(message, failures.includes(code) ? 'failed' : 'refused')
}

/** Resolves the settings that say where the store is; all others have their defaults. */
export function settingsOfPlace(source: CommandSource, command: Command,
  names: readonly SettingName[] = placeSettings): Settings {
  // Other variables are for servers: a mistake in one of them must not matter here.
  const environment = Object.fromEntries(names.flatMap((name) => {
    const { variable, isSecret } = knownSettings[name]
    return [variable, ...isSecret ? [`${variable}_FILE`] : []]
      .map((each) => [each, source.environment[each]])
  }))
  return resolveSettings({ ...source, environment, options: typedSettings(command) })
}

/** Opens the store while `work` is done. With `begins`, the store need not exist yet. */
export async function withAdminAccess(source: CommandSource, command: Command,
  work: (admin: AdminAccess) => Promise<void>, { begins = false, names = placeSettings }: {
    readonly begins?: boolean
    readonly names?: readonly SettingName[]
  } = {}): Promise<void> {
  const settings = settingsOfPlace(source, command, names)
  const { cassandra, dataDirectory: directory } = settings
  if (!begins && cassandra === null && !existsSync(directory)) {
    throw new CommandError(`There is no data directory ${directory}: name the one of the server.`,
      'refused')
  }
  const adminAccess = await openAdminAccess(settings, systemEnv({ level: 'warn' }))
  try {
    await work(adminAccess)
  } finally {
    await adminAccess.close()
  }
}
