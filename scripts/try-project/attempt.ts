/** One project, step by step: what passed, and what each other step said. */

import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

import { callGraph, readGraphs } from './call.ts'
import type { Call } from './call.ts'
import { run, reasonIn } from './program.ts'
import { engineOf, installerOf, projectIn } from './project.ts'
import type { Project } from './project.ts'
import { heddle, startServer } from './server.ts'
import type { Server } from './server.ts'

/** Seconds that each step may take. */
export const limits = { install: 300, serve: 90, build: 120, deploy: 180, call: 60 } as const

/** A row of the table. */
export interface Attempt {
  readonly project: string
  engine: string
  install: string
  served: string
  built: string
  deployed: string
  called: string
  /** A client of the API in its code: none, or whether the deployed call made threads with it. */
  inside: string
  message: string
}

/** The served project of a place for deployments, if this one cannot be served. */
const starter = resolve(import.meta.dirname, '../../deploy/starter/langgraph.json')

/** What a caller wants called. */
export interface Wanted {
  /** Variables that the project gets, also where it is deployed. */
  readonly variables: Readonly<Record<string, string>>
  /** The graph that is called; by default, the first that talks. */
  readonly graph: string | undefined
  readonly run: Call['run']
}

/** Tries all steps. Never throws: what goes wrong is in the row. */
export async function attempt(path: string, { variables, graph, run: members }: Wanted): Promise<
  Attempt
> {
  const row: Attempt = { project: path, engine: '', install: '', served: '', built: '',
    deployed: '', called: '', inside: '', message: '' }
  try {
    const project = projectIn(path)
    await install(project, row)
    row.engine = engineOf(project) ?? 'none'
    // A login of its own would let nobody in who is tried here.
    const more = project.hasLogin ? ['--ignore-auth'] : []
    await build({ project, row, more, variables })
    const call = { seconds: limits.call, run: members,
      graphs: graph === undefined ? project.names : [graph] }
    await serveAndDeploy({ project, row, more, variables, call })
  } catch (error) {
    note(row, (error as Error).message)
  }
  return row
}

/** Adds what a step said. */
function note(row: Attempt, said: string): void {
  const one = said.replaceAll(/\s+/g, ' ').trim().slice(0, 400)
  row.message = row.message === '' ? one : `${row.message} · ${one}`
}

async function install(project: Project, row: Attempt): Promise<void> {
  const folders = [project.home, dirname(project.config)]
  if (folders.some((folder) => existsSync(join(folder, 'node_modules')))) {
    return void (row.install = 'there')
  }
  const ended = await run({ ...installerOf(project), folder: project.home,
    seconds: limits.install })
  row.install = ended.code === 0 ? 'yes' : 'no'
  if (ended.code !== 0) throw new Error(`install: ${reasonIn(ended, limits.install)}`)
}

async function build(
  { project: { config }, row, more, variables }: Omit<Serving, 'call'>,
): Promise<void> {
  const ended = await run({ command: [...heddle, 'build', '--config', config, '--check', ...more],
    folder: tmpdir(), variables, seconds: limits.build })
  row.built = ended.code === 0 ? 'yes' : 'no'
  if (ended.code !== 0) note(row, `build: ${reasonIn(ended, limits.build)}`)
}

/** What serves and deploys one project. */
interface Serving {
  readonly project: Project
  readonly row: Attempt
  readonly more: readonly string[]
  readonly variables: Wanted['variables']
  readonly call: Call
}

async function serveAndDeploy(serving: Serving): Promise<void> {
  const { project, row, more, variables, call } = serving
  const own = await startServer(project.config, more, variables, limits.serve)
  row.served = 'url' in own && await passes(row, 'serve', () => readGraphs(own.url, limits.serve))
    ? 'yes'
    : 'no'
  if (!('url' in own)) note(row, `serve: ${reasonIn(own, limits.serve)}`)
  const place = 'url' in own ? own : await startServer(starter, [], variables, limits.serve)
  if (!('url' in place)) throw new Error(`no place to deploy: ${reasonIn(place, limits.serve)}`)
  try {
    if (row.served === 'yes') {
      row.called = await passes(row, 'call', () => callGraph(place.url, call))
        ? 'served'
        : 'no'
    }
    await deploy(serving, place)
  } finally {
    await place.close()
  }
}

async function deploy({ project, row, more, variables, call }: Serving,
  { url }: Server): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-try-secrets-'))
  const secrets = join(folder, 'secrets.env')
  try {
    await writeFile(secrets, Object.entries(variables).map(([name, value]) =>
      `${name}=${value}\n`
    ).join(''))
    const ended = await run({
      command: [...heddle, 'deploy', 'tried', '--config', project.config, '--url', url, '--yes',
        '--no-watch', '--env-file', secrets, ...more],
      folder,
      variables: {},
      seconds: limits.deploy,
    })
    row.deployed = ended.code === 0 ? 'yes' : 'no'
    if (ended.code !== 0) return note(row, `deploy: ${reasonIn(ended, limits.deploy)}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  let made = 0
  const called = await passes(row, 'deployed call', async () => {
    made = await callGraph(`${url}/d/tried`, call)
  })
  row.called = [row.called, called ? 'deployed' : 'no'].filter(Boolean).join(', ')
  row.inside = project.hasClient ? made > 0 ? 'yes' : 'not seen' : 'none'
}

async function passes(row: Attempt, step: string, check: () => Promise<unknown>): Promise<boolean> {
  try {
    await check()
    return true
  } catch (error) {
    note(row, `${step}: ${(error as Error).message}`)
    return false
  }
}
