/** The command `heddle keys`: makes, lists and revokes the API keys of a region. */

import { Command, Option } from 'commander'

import { callerRoles } from '../access/index.ts'
import type { CallerRole, KeyDesk, KeyFacts } from '../access/index.ts'
import { CommandError, inOffice, runCommand, withPlace } from './admin-command.ts'
import type { CommandSource, TypedPlace } from './admin-command.ts'

interface Typed extends TypedPlace {
  readonly tenant?: string
  readonly role?: CallerRole
  readonly name?: string
  readonly expiresIn?: string
}

/** Throws CommandError. */
export function runKeysCommand(source: CommandSource): Promise<void> {
  return runCommand(commandOver(source), source,
    'say what about the keys: create, list or revoke')
}

function commandOver(source: CommandSource): Command {
  const withDesk = (typed: Typed, work: (desk: KeyDesk) => Promise<string>, begins = false) =>
    inOffice(source, typed, async ({ desk }) => source.print(await work(desk)), { begins })
  const command = new Command('heddle keys')
    .description('Makes, lists and revokes the API keys of callers.')
  const subcommand = (usage: string, description: string) =>
    withPlace(command.command(usage).description(description))
  subcommand('create', 'Makes a key and shows it, this once.')
    .requiredOption('--tenant <name>', 'The tenant to whose data it gives access.')
    .addOption(new Option('--role <role>', `What it may do: ${callerRoles.join(', ')}; a reader ` +
      'changes nothing.').choices(callerRoles).default('developer'))
    .option('--name <text>', 'A name for people.', '')
    .option('--expires-in <time>', 'How long it is valid: 90m, 12h, 30d (default: for ever).')
    .action((typed: Typed) => withDesk(typed, async (desk) => {
      const { tenant = '', role = 'developer', name = '', expiresIn, json } = typed
      const expiresInMs = expiresIn === undefined ? null : timeIn(expiresIn)
      const made = await desk.create({ tenant, role, name, expiresInMs })
      return json ? jsonText(made) : `${made.key}\n`
    }, true))
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
  return command
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function timeIn(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,4})([smhd])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return Number(count) * units[unit]!
  throw new CommandError(`--expires-in must be a time like 90m, 12h or 30d, not "${text}".`)
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
