/** The commands `heddle secrets list`, `set` and `remove`: variables of a deployment. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'

import { Command } from 'commander'

import { CommandError } from '../admin-command.ts'
import { minuteOf, tableOf } from '../table.ts'
import type { ControlChange, ControlSecret } from '../../api/index.ts'
import { jsonLine, openDeployment, runControlCommand } from './control-command.ts'
import type { ControlAccess, TypedControl } from './control-command.ts'
import { ControlError, failureLines, NoAnswerError } from './control-error.ts'
import type { ControlCommandSource } from './control-source.ts'

interface TypedChange extends TypedControl {
  readonly from?: string
  readonly restart: boolean
}

type Values = Readonly<Record<string, string>>

/** Subcommands about deployments. The others are about the keys of all secrets. */
export const deploymentSecretsWords: readonly string[] = ['list', 'set', 'remove']

/** Lists, sets and removes secrets of a deployment. Throws CommandError. */
export function runDeploymentSecretsCommand(source: ControlCommandSource): Promise<void> {
  const command = new Command('heddle secrets')
    .description('Variables that the code of a deployment gets. Values are never shown. A change ' +
      'counts when the active revision has loaded it on all members.')
  command.command('list').description('Lists their names.')
    .argument('[name]', 'The deployment.')
    .action((name: string | undefined, typed: TypedControl) => list(source, name, typed))
  command.command('set').description('Sets some as one version, and waits until it is loaded.')
    .argument('[NAME=value...]', 'With NAME alone, the value is asked for and not shown.')
    .option('--from <file>', 'Set all that a dotenv file has.')
    .option('--no-restart', 'Keep them for the next roll-out.')
    .action((words: readonly string[], typed: TypedChange) => set(source, words, typed))
  command.command('remove').description(
    'Removes some as one version, and waits until it is loaded.',
  )
    .argument('<NAME...>', 'Names.')
    .option('--no-restart', 'Keep the change for the next roll-out.')
    .action((names: readonly string[], typed: TypedChange) => remove(source, names, typed))
  return runControlCommand(command, source)
}

async function list(source: ControlCommandSource, named: string | undefined,
  typed: TypedControl): Promise<void> {
  const { client, name } = await openDeployment(source, typed, named)
  const { secrets } = await client.ask('GET /control/v1/deployments/:deployment/secrets', {
    params: { deployment: name },
  })
  if (typed.json) return source.print(secrets.map(jsonLine).join(''))
  if (secrets.length === 0) return source.print(`${name} has no secrets.\n`)
  source.print(
    tableOf([['name', 'version', 'set', ''], ...secrets.map((
      secret,
    ) => [secret.name, `${secret.version}`, minuteOf(secret.updated_at), stateText(secret)])]),
  )
}

async function set(source: ControlCommandSource, words: readonly string[],
  { from, restart, ...typed }: TypedChange): Promise<void> {
  if (words.length === 0 && from === undefined) {
    throw new CommandError('Name what to set, as OPENAI_API_KEY, or a file by --from', 'misused')
  }
  // Before anything is asked for: a wrong server must not cost a typed secret.
  const access = await openDeployment(source, typed)
  const values = { ...from === undefined ? {} : await dotenvOf(source.folder, from),
    ...await valuesOf(source, words) }
  const changed = await changeSecrets(access, { values, restart })
  report(source, typed, { did: 'set', names: Object.keys(values), name: access.name, ...changed })
}

/** Time for members to load the revision with them. */
const loadMs = 330_000

/** Changes secrets. Throws CommandError: if it is refused, nothing has changed. */
export async function changeSecrets(
  { client, name }: Pick<ControlAccess, 'client' | 'name'>,
  body: { readonly values: Values; readonly remove?: readonly string[]; readonly restart: boolean },
): Promise<ControlChange> {
  try {
    return await client.ask('PUT /control/v1/deployments/:deployment/secrets', {
      params: { deployment: name },
      body,
      withinMs: loadMs,
    })
  } catch (error) {
    if (error instanceof NoAnswerError && error.sent) {
      throw new NoAnswerError(`${error.message}\nThe change may have been made: see "heddle ` +
        `secrets list ${name}" before you repeat it.`, true)
    }
    if (!(error instanceof ControlError) || error.code !== 'graph_failed') throw error
    throw new ControlError(error.code, [`${name} cannot be loaded with this change, and its ` +
      `secrets stay as they were: ${error.message}`, ...failureLines(error.graphs)].join('\n'),
      error.graphs)
  }
}

/** State of a secret in words; empty from a server before sets, which has none. */
function stateText({ state }: ControlSecret): string {
  if (state === 'kept') return 'from the next roll-out on'
  return state === 'removed' ? 'until the next roll-out' : ''
}

/** Values of a change. A single one without a typed value can come from a pipe. */
async function valuesOf(source: ControlCommandSource, words: readonly string[]): Promise<Values> {
  const values: Record<string, string> = {}
  const unsaid = words.filter((word) => !word.includes('='))
  if (unsaid.length > 1 && !source.isTerminal) {
    throw new CommandError(
      `Only one value can come from a pipe: use --from for ${unsaid.join(', ')}`,
      'misused',
    )
  }
  for (const word of words) {
    const at = word.indexOf('=')
    if (at === -1) values[word] = await source.readSecret(`Value of ${word}: `)
    else values[word.slice(0, at)] = word.slice(at + 1)
  }
  return values
}

/** The variables of a dotenv file. Throws CommandError. */
export async function dotenvOf(folder: string, file: string): Promise<Values> {
  const path = resolve(folder, file)
  const text = await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandError(`${path} cannot be read: ${code}`, 'misused')
  })
  const values = parseEnv(text) as Values
  if (Object.keys(values).length > 0) return values
  throw new CommandError(`${path} has no line like NAME=value`, 'misused')
}

async function remove(source: ControlCommandSource, names: readonly string[],
  { restart, from: _, ...typed }: TypedChange): Promise<void> {
  const access = await openDeployment(source, typed)
  const changed = await changeSecrets(access, { values: {}, remove: names, restart })
  report(source, typed, { did: 'removed', names, name: access.name, ...changed })
}

function report(source: ControlCommandSource, { json }: TypedControl,
  { did, names, name, rollout }: ControlChange & { readonly did: 'set' | 'removed';
    readonly names: readonly string[]; readonly name: string }): void {
  if (json) return source.print(jsonLine({ [did]: names, rollout: rollout?.id ?? null }))
  const then = rollout === null
    ? 'kept for the next roll-out'
    : `${rollout.revision} has loaded the change`
  source.print(`${names.join(', ')} of ${name}: ${did}; ${then}.\n`)
}
