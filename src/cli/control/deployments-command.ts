/** The command `heddle deployments`: names that serve revisions, and their settings. */

import { Command, Option } from 'commander'

import { isDeploymentName } from '../../deployment/index.ts'
import { CommandError } from '../admin-command.ts'
import { tableOf } from '../table.ts'
import type { ControlDeployment } from '../../api/index.ts'
import { jsonLine, openControl, openDeployment, runControlCommand } from './control-command.ts'
import type { TypedControl } from './control-command.ts'
import type { ControlCommandSource } from './control-source.ts'
import { changesIn, settingKeys } from './deployment-settings.ts'
import { deploymentText } from './deployment-text.ts'
import { readDeployment } from './rollout.ts'
import { wholeNumber } from './whole-number.ts'

interface TypedList extends TypedControl {
  readonly limit: string
}

interface TypedCreate extends TypedControl {
  readonly access?: ControlDeployment['access']
  readonly host?: readonly string[]
}

interface TypedRemove extends TypedControl {
  readonly data?: boolean
  readonly yes?: boolean
}

/** Lists, makes, shows, changes and removes deployments. Throws CommandError. */
export function runDeploymentsCommand(source: ControlCommandSource): Promise<void> {
  const command = new Command('heddle deployments')
    .description('Lists, makes, changes and removes deployments.')
  command.command('list', { isDefault: true }).description('Lists them by name.')
    .option('--limit <number>', 'How many.', '100')
    .action((typed: TypedList) => list(source, typed))
  command.command('create').description('Makes one, which deploy does by itself.')
    .argument('[name]', 'Letters, digits and "-", as in a host name.')
    .addOption(new Option('--access <who>', 'own: keys of its tenant. any: keys of each tenant, ' +
      'which has its own data.').choices(['own', 'any']))
    .option('--host <name...>', 'Host names of its own.')
    .action((name: string | undefined, typed: TypedCreate) => create(source, name, typed))
  command.command('show').description('Shows all of one.')
    .argument('[name]', 'The deployment.')
    .action((name: string | undefined, typed: TypedControl) => show(source, name, typed))
  command.command('set').description(`Changes one: ${settingKeys.join(', ')}.`)
    .argument('[name]', 'The deployment.')
    .argument('[key=value...]', 'As memory_mb=1024 requests=600/60s paused=yes ' +
      'hosts=a.example.org,b.example.org.')
    .action((first: string | undefined, more: readonly string[], typed: TypedControl) =>
      set(source, [...first === undefined ? [] : [first], ...more], typed)
    )
  command.command('remove').description('Removes one with all its revisions and secrets.')
    .argument('<name>', 'The deployment.')
    .option('--data', 'Even if it has an active revision: with its threads and all other data.')
    .option('--yes', 'Do not ask for its name again.')
    .action((name: string, typed: TypedRemove) => remove(source, name, typed))
  return runControlCommand(command, source)
}

async function list(source: ControlCommandSource, { limit, ...typed }: TypedList): Promise<void> {
  const query = { limit: wholeNumber('--limit', limit, { least: 1, most: 1_000 }) }
  const { client } = await openControl(source, typed)
  const { deployments } = await client.ask('GET /control/v1/deployments', { query })
  if (typed.json) return source.print(deployments.map(jsonLine).join(''))
  if (deployments.length === 0) {
    return source.print('There is no deployment yet: "heddle deploy" makes one.\n')
  }
  source.print(
    tableOf([['name', 'active', 'previous', '', 'url'], ...deployments.map((
      each,
    ) => [each.name, each.active ?? '', each.previous ?? '', stateOf(each), each.url])]),
  )
}

function stateOf({ paused, rollout, next, preview, problems = [] }: ControlDeployment): string {
  if (problems.some(({ serves_some: servesSome }) => !servesSome)) return 'cannot serve'
  if (problems.length > 0) return 'cannot serve all graphs'
  if (paused) return 'paused'
  if (rollout !== null) return `${rollout.revision} ${rollout.phase}`
  if (next !== null) return `${next.revision} ${next.percent} %`
  return preview === null ? '' : `preview of ${preview.of}`
}

async function create(source: ControlCommandSource, named: string | undefined,
  { access, host: hosts, ...typed }: TypedCreate): Promise<void> {
  const { client, name } = await openDeployment(source, typed, named)
  const made = await client.ask('POST /control/v1/deployments', { body: { name, access, hosts } })
  source.print(typed.json ? jsonLine(made) : deploymentText(made))
}

async function show(source: ControlCommandSource, named: string | undefined,
  typed: TypedControl): Promise<void> {
  const deployment = await readDeployment(await openDeployment(source, typed, named))
  source.print(typed.json ? jsonLine(deployment) : deploymentText(deployment))
}

/** Changes settings. The first word is the name, unless it is a setting. */
async function set(source: ControlCommandSource, words: readonly string[],
  typed: TypedControl): Promise<void> {
  const named = words[0]?.includes('=') === false ? words[0] : undefined
  const body = changesIn(named === undefined ? words : words.slice(1))
  const { client, name } = await openDeployment(source, typed, named)
  const changed = await client.ask('PATCH /control/v1/deployments/:deployment', {
    params: { deployment: name },
    body,
    isRepeatable: true,
  })
  source.print(typed.json ? jsonLine(changed) : deploymentText(changed))
}

/** Removes a deployment. Its name must be typed: it is never taken from the folder. */
async function remove(source: ControlCommandSource, name: string,
  { data, yes, ...typed }: TypedRemove): Promise<void> {
  if (!isDeploymentName(name)) {
    throw new CommandError(`"${name}" is no name of a deployment; see deployments --help`,
      'misused')
  }
  if (data && !yes) await confirm(source, name)
  const { client } = await openDeployment(source, typed, name)
  await client.ask('DELETE /control/v1/deployments/:deployment', { params: { deployment: name },
    query: { data: data ? 'remove' : undefined } })
  source.print(typed.json ? jsonLine({ removing: name }) : `${name} is being removed.\n`)
}

/** Asks for the name again, as data are gone for ever. Throws CommandError. */
async function confirm({ isTerminal, readLine }: ControlCommandSource,
  name: string): Promise<void> {
  if (!isTerminal) {
    throw new CommandError('--data removes all threads, items and traces: add --yes to do so ' +
      'without being asked', 'misused')
  }
  const typed = await readLine(`Type ${name} to remove it with all threads, items and traces: `)
  if (typed !== name) throw new CommandError('Nothing was removed.')
}
