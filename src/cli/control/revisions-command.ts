/** The command `heddle revisions`: the deployed revisions, and those of them that are kept. */

import { Command } from 'commander'

import { megabytes } from '../megabytes.ts'
import { wholeNumber } from './whole-number.ts'
import type { ControlDeployment, ControlRevision } from '../../api/index.ts'
import { jsonLine, openDeployment, runControlCommand } from './control-command.ts'
import type { TypedControl } from './control-command.ts'
import type { ControlCommandSource } from './control-source.ts'
import { failureLines } from './control-error.ts'
import { moveText } from './move-text.ts'
import { loadMs, moved } from './rollback-command.ts'
import { readDeployment, readRevision } from './rollout.ts'
import { minuteOf, tableOf } from '../table.ts'

interface TypedList extends TypedControl {
  readonly limit: string
}

interface TypedActivate extends TypedControl {
  readonly percent?: string
  readonly now?: boolean
  readonly message?: string
}

interface TypedRemove extends TypedControl {
  readonly force?: boolean
}

/** Lists, shows, activates and removes revisions. Throws CommandError. */
export function runRevisionsCommand(source: ControlCommandSource): Promise<void> {
  const command = new Command('heddle revisions')
    .description('Lists the revisions of a deployment, and activates and removes them.')
  command.command('list', { isDefault: true }).description('Lists them, the newest first.')
    .argument('[name]', 'The deployment.')
    .option('--limit <number>', 'How many.', '20')
    .action((name: string | undefined, typed: TypedList) => list(source, name, typed))
  command.command('show').description('Shows all of one.')
    .argument('<revision>', 'As r12.')
    .action((revision: string, typed: TypedControl) => show(source, revision, typed))
  command.command('activate').description('Makes one active that is ready.')
    .argument('<revision>', 'As r12.')
    .option('--percent <number>', 'The share of new runs that it takes.')
    .option('--now', 'Move runs under way, too: each at its next superstep, if it can go on there.')
    .option('--message <text>', 'Why, for the log of the deployment.')
    .action((revision: string, typed: TypedActivate) => activate(source, revision, typed))
  command.command('remove').description('Removes what was uploaded of one. Its record stays.')
    .argument('<revision>', 'As r12.')
    .option('--force', 'Even if runs execute on it, or threads wait for it.')
    .action((revision: string, typed: TypedRemove) => remove(source, revision, typed))
  return runControlCommand(command, source)
}

async function list(source: ControlCommandSource, named: string | undefined,
  { limit, ...typed }: TypedList): Promise<void> {
  const query = { limit: wholeNumber('--limit', limit, { least: 1, most: 1_000 }) }
  const access = await openDeployment(source, typed, named)
  const [{ revisions }, deployment] = await Promise.all([
    access.client.ask('GET /control/v1/deployments/:deployment/revisions', {
      params: { deployment: access.name },
      query,
    }),
    readDeployment(access),
  ])
  if (typed.json) return source.print(revisions.map(jsonLine).join(''))
  if (revisions.length === 0) return source.print('There is no revision yet.\n')
  source.print(
    tableOf([['', 'state', 'made', 'by', 'MB', 'runs', 'waiting', 'message'], ...revisions.map((
      each,
    ) => [each.name, stateOf(each, deployment), minuteOf(each.created_at), each.by,
      megabytes(each.bytes), `${each.running ?? ''}`, `${each.waiting_threads ?? ''}`, each.message]
    )]),
  )
}

function stateOf({ name, state }: ControlRevision,
  { active, previous, next }: ControlDeployment): string {
  if (name === active) return 'active'
  if (name === next?.revision) return `${next.percent} % of new runs`
  return name === previous ? `${state}, previous` : state
}

async function show(source: ControlCommandSource, name: string,
  typed: TypedControl): Promise<void> {
  const revision = await readRevision(await openDeployment(source, typed), name)
  source.print(typed.json ? jsonLine(revision) : textOf(revision))
}

function textOf(revision: ControlRevision): string {
  const { source } = revision
  const commit = source?.commit
    ? [`${source.commit.slice(0, 12)}${source.branch === null ? '' : ` of ${source.branch}`}` +
      (source.dirty ? ', with changes' : '')]
    : []
  const rows: (readonly [string, string])[] = [
    ['revision', revision.name],
    ['state', revision.state],
    ...revision.message === '' ? [] : [['message', revision.message] as const],
    ['made', `${minuteOf(revision.created_at)} by ${revision.by}`],
    ...revision.active_at === null ? [] : [['active', minuteOf(revision.active_at)] as const],
    ...commit.map((text) => ['commit', text] as const),
    ['size', `${revision.files} files, ${megabytes(revision.bytes)} MB compressed`],
    ...revision.platform === null ? [] : [['platform', revision.platform] as const],
    ...revision.graphs.map(({ graph_id: id, nodes }) =>
      ['graph', `${id}: ${nodes.join(', ')}`] as const
    ),
    ...revision.running === null ? [] : [['runs', `${revision.running}`] as const],
    ...revision.waiting_threads === null
      ? []
      : [['waiting', `${revision.waiting_threads} threads`] as const],
    ...revision.wants_env.length === 0
      ? []
      : [['wants', revision.wants_env.join(', ')] as const],
    ['hash', revision.hash],
    ...revision.reason === null ? [] : [['refused', revision.reason] as const],
    ...failureLines(revision.failures).map((text) => ['', text] as const),
  ]
  return rows.map(([name, text]) => `${name.padEnd(10)}${text}\n`).join('')
}

async function activate(source: ControlCommandSource, name: string,
  { percent, now, message, ...typed }: TypedActivate): Promise<void> {
  const body = { message, now, ...percent !== undefined &&
    { percent: wholeNumber('--percent', percent, { least: 1, most: 100 }) } }
  const access = await openDeployment(source, typed)
  const move = await moved(access,
    access.client.ask('POST /control/v1/deployments/:deployment/revisions/:revision/activate', {
      params: { deployment: access.name, revision: name },
      body,
      withinMs: loadMs,
    }))
  source.print(typed.json ? jsonLine(move) : `${moveText(move, now)}\n`)
}

async function remove(source: ControlCommandSource, name: string,
  { force, ...typed }: TypedRemove): Promise<void> {
  const { client, name: deployment } = await openDeployment(source, typed)
  await client.ask('DELETE /control/v1/deployments/:deployment/revisions/:revision', {
    params: { deployment, revision: name },
    query: { force: force ? true : undefined },
  })
  source.print(typed.json ? jsonLine({ removed: name }) : `${name} is removed.\n`)
}
