/** The command `heddle keys`: makes, lists and revokes the API keys of a region. */

import { Command, Option } from 'commander'

import { callerRoles } from '../access/index.ts'
import type { CallerRole, KeyAdmin, KeyDetails } from '../access/index.ts'
import { CommandError, withAdminAccess, runCommand } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'

interface Typed extends TypedFormat {
  readonly tenant?: string
  readonly role?: CallerRole
  readonly name?: string
  readonly deployment?: string
  readonly expiresIn?: string
}

/** Makes, lists or revokes keys. Throws CommandError. */
export function runKeysCommand(source: CommandSource): Promise<void> {
  return runCommand(commandOver(source), source, 'say what about the keys: create, list or revoke')
}

function commandOver(source: CommandSource): Command {
  const withKeyAdmin = (subcommand: Command, work: (keyAdmin: KeyAdmin) => Promise<string>,
    begins = false) =>
    withAdminAccess(source, subcommand, async ({ keyAdmin }) => source.print(await work(keyAdmin)),
      {
        begins,
      })
  const command = new Command('heddle keys')
    .description('Makes, lists and revokes the API keys of callers.')
  const subcommand = (usage: string, description: string) =>
    command.command(usage).description(description)
  subcommand('create', 'Makes a key and shows it, this once.')
    .requiredOption('--tenant <name>', 'The tenant to whose data it gives access.')
    .addOption(
      new Option('--role <role>',
        'What it may do; a reader changes nothing, a deployer reads no data.')
        .choices(callerRoles).default('developer'),
    )
    .option('--deployment <name>', 'The only deployment that it may call (default: any).')
    .option('--name <text>', 'A name for people.')
    .option('--expires-in <time>', 'How long it is valid: 90m, 12h, 30d (default: for ever).')
    .action((typed: Typed, subcommand: Command) =>
      withKeyAdmin(subcommand, async (keyAdmin) => {
        const { tenant = '', role = 'developer', name = '', expiresIn, deployment = null, json } =
          typed
        const expiresInMs = expiresIn === undefined ? null : timeIn(expiresIn)
        const made = await keyAdmin.create({ tenant, role, name, deployment, expiresInMs })
        return json ? jsonText(made) : `${made.key}\n`
      }, true)
    )
  subcommand('list', 'Lists the keys, newest first, without their texts.')
    .option('--tenant <name>', 'Only those of this tenant.')
    .action((typed: Typed, subcommand: Command) =>
      withKeyAdmin(subcommand, async (keyAdmin) => {
        const keys = await keyAdmin.list(typed.tenant)
        return typed.json ? jsonText(keys) : tableOf(keys)
      })
    )
  subcommand('revoke <id>', 'Ends a key: within five seconds no front door takes it any more.')
    .action((id: string, typed: Typed, subcommand: Command) =>
      withKeyAdmin(subcommand, async (keyAdmin) => {
        const details = await keyAdmin.revoke(id)
        return typed.json ? jsonText(details) : `The key ${id} of ${details.tenant} is revoked.\n`
      })
    )
  return command
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function timeIn(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return Number(count) * units[unit]!
  throw new CommandError(`--expires-in must be a time like 90m, 12h or 30d, not "${text}".`,
    'misused')
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

function tableOf(keys: readonly KeyDetails[]): string {
  if (keys.length === 0) return 'There are no keys.\n'
  const day = (ms: number | null, otherwise: string) =>
    ms === null ? otherwise : new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
  const rows = [['id', 'tenant', 'deployment', 'role', 'name', 'created', 'last used', 'until', ''],
    ...keys.map((
      { id, tenant, deployment, role, name, createdAtMs, usedAtMs, expiresAtMs, revokedAtMs },
    ) => [id, tenant, deployment ?? '', role, name, day(createdAtMs, ''), day(usedAtMs, 'never'),
      day(expiresAtMs, 'for ever'), revokedAtMs === null ? '' : 'revoked']
    )]
  const widths = rows[0]!.map((_, index) => Math.max(...rows.map((row) => row[index]!.length)))
  return rows.map((row) =>
    row.map((text, index) => text.padEnd(widths[index]!)).join('  ')
      .trimEnd()
  ).join('\n') + '\n'
}
