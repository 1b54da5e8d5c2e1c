/** The command `heddle keys`: makes, lists and revokes the API keys of a region. */

import { Command, CommanderError, Option } from 'commander'

import { systemEnv } from '../cluster/index.ts'
import { resolveSettings, SettingsError } from './config.ts'
import type { SettingsSource } from './config.ts'
import { HeddleError } from './errors.ts'
import { knownSettings } from './known-settings.ts'
import type { SettingName } from './known-settings.ts'
import { callerRoles } from './records/index.ts'
import type { CallerRole, KeyDesk, KeyFacts } from './records/index.ts'
import { openKeyOffice } from './server/key-office.ts'

export interface KeysCommand extends Omit<SettingsSource, 'options'> {
  /** What was typed after `keys`. */
  readonly args: readonly string[]
}

/** What was typed cannot be done. Its message is a sentence or more, a line each. */
export class KeysError extends Error {
  override readonly name = 'KeysError'
}

/** Where the keys are. */
const placeSettings = ['config', 'data', 'store', 'contactPoints', 'localDatacenter', 'keyspace',
  'cassandraUser', 'cassandraPassword', 'tlsCa', 'tlsCert', 'tlsKey', 'region',
] as const satisfies readonly SettingName[]

interface Typed extends Partial<Record<typeof placeSettings[number], string>> {
  readonly tenant?: string
  readonly role?: CallerRole
  readonly name?: string
  readonly expiresIn?: string
  readonly json?: boolean
}

/** The text to print. Throws KeysError. */
export async function runKeysCommand(source: KeysCommand): Promise<string> {
  let printed = ''
  const command = commandOver(source, (text) => { printed += text })
  try {
    await command.parseAsync(source.args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return printed
      if (error.code === 'commander.help') {
        throw new KeysError('say what about the keys: create, list or revoke; see keys --help')
      }
      const mistake = error.message.replace(/^error: /, '').replace(/\.$/, '').replace('\n', ' ')
      throw new KeysError(`${mistake}; see keys --help`)
    }
    if (error instanceof HeddleError || error instanceof SettingsError) {
      throw new KeysError(error.message)
    }
    throw error
  }
  return printed
}

function commandOver(source: KeysCommand, print: (text: string) => void): Command {
  const withDesk = async (typed: Typed, work: (desk: KeyDesk) => Promise<string>) => {
    const options = Object.fromEntries(placeSettings.flatMap((name) =>
      typed[name] === undefined ? [] : [[name, typed[name]]]))
    const settings = resolveSettings({ ...source, options: { ...options, auth: 'keys' } })
    const office = await openKeyOffice(settings, systemEnv({ level: 'warn' }))
    try {
      print(await work(office.desk))
    } finally {
      await office.close()
    }
  }
  const command = new Command('heddle keys')
    .description('Makes, lists and revokes the API keys by which callers are known.')
  const subcommand = (usage: string, description: string) => {
    const made = command.command(usage).description(description)
    for (const name of placeSettings) {
      const { flags, variable, sentence } = knownSettings[name]
      made.option(flags, `${sentence} [${variable}]`)
    }
    return made.option('--json', 'Answer in JSON.')
  }
  subcommand('create', 'Makes a key and shows it, this once.')
    .requiredOption('--tenant <name>', 'Whose things it opens.')
    .addOption(new Option('--role <role>', `What it may: ${callerRoles.join(', ')}; a reader ` +
      'changes nothing.').choices(callerRoles).default('developer'))
    .option('--name <text>', 'For people to know it by.', '')
    .option('--expires-in <time>', 'How long it is good: 90m, 12h, 30d (default: for ever).')
    .action((typed: Typed) => withDesk(typed, async (desk) => {
      const { tenant = '', role = 'developer', name = '', expiresIn, json } = typed
      const expiresInMs = expiresIn === undefined ? null : timeIn(expiresIn)
      const made = await desk.create({ tenant, role, name, expiresInMs })
      return json ? jsonText(made) : `${made.key}\n`
    }))
  subcommand('list', 'Lists the keys, newest first, without their texts.')
    .option('--tenant <name>', 'Only those of this tenant.')
    .action((typed: Typed) => withDesk(typed, async (desk) => {
      const keys = await desk.list(typed.tenant)
      return typed.json ? jsonText(keys) : tableOf(keys)
    }))
  subcommand('revoke <id>', 'Ends a key: within five seconds no front door takes it any more.')
    .action((id: string, typed: Typed) => withDesk(typed, async (desk) => {
      const facts = await desk.revoke(id)
      return typed.json ? jsonText(facts) : `The key ${id} of ${facts.tenant} is revoked.\n`
    }))
  for (const each of [command, ...command.commands]) {
    each.exitOverride().configureOutput({ writeOut: print, writeErr: () => {} })
  }
  return command
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function timeIn(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return Number(count) * units[unit]!
  throw new KeysError(`--expires-in must be a time like 90m, 12h or 30d, not "${text}".`)
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

function tableOf(keys: readonly KeyFacts[]): string {
  if (keys.length === 0) return 'There are no keys.\n'
  const day = (ms: number | null, otherwise: string) =>
    ms === null ? otherwise : new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
  const rows = [['id', 'tenant', 'role', 'name', 'created', 'last used', 'until', ''],
    ...keys.map(({ id, tenant, role, name, createdAtMs, usedAtMs, expiresAtMs, revokedAtMs }) =>
      [id, tenant, role, name, day(createdAtMs, ''), day(usedAtMs, 'never'),
        day(expiresAtMs, 'for ever'), revokedAtMs === null ? '' : 'revoked'])]
  const widths = rows[0]!.map((_, place) => Math.max(...rows.map((row) => row[place]!.length)))
  return rows.map((row) => row.map((text, place) => text.padEnd(widths[place]!)).join('  ')
    .trimEnd()).join('\n') + '\n'
}
