/** Finds the server and the deployment of a command. */

import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { isDeploymentName } from '../../deployment/index.ts'
import { memberOf, valueIn } from '../../json/index.ts'
import { servedUrl } from '../../server/admin-socket.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlTarget } from './control-client.ts'
import type { ControlCommandSource } from './control-source.ts'

/** Options that name the server and the deployment. */
export interface TypedTarget {
  readonly config?: string
  readonly url?: string
  readonly key?: string
  readonly deployment?: string
}

/** Entries of a project's langgraph.json about its deployment. */
interface ProjectTarget {
  readonly folder: string
  /** False if there is no langgraph.json. */
  readonly isThere: boolean
  readonly url?: string
  readonly deployment?: string
}

/** URL of a server that no option names. */
const usualUrl = 'http://127.0.0.1:2024'

/** Finds the server: as typed, as the project says, or the one that runs on this machine. */
export async function findTarget(source: ControlCommandSource, typed: TypedTarget,
  env: Env): Promise<ControlTarget> {
  const { environment } = source
  const key = typed.key || environment['HEDDLE_API_KEY'] || undefined
  const asked = typed.url || environment['HEDDLE_URL']
  if (asked) return { url: checkedUrl(asked, '--url'), key, hint: '.', env }
  const project = await projectTarget(source, typed)
  if (project.url !== undefined) {
    return { url: checkedUrl(project.url, 'heddle.url in langgraph.json'), key,
      hint: ', which langgraph.json names.', env }
  }
  const local = await localUrl(source, project.folder, env)
  return { url: local?.url ?? usualUrl, key, env, isFound: local?.isOwn !== true,
    hint: ': start one with "heddle dev", or name another by --url or HEDDLE_URL.' }
}

/**
 * URL of a running server whose data directory can be read here. If the directory is in the
 * project, or was named, the server is the project's own.
 */
async function localUrl({ environment, folder, starter }: ControlCommandSource, project: string,
  env: Env): Promise<{ readonly url: string; readonly isOwn: boolean } | undefined> {
  const named = environment['HEDDLE_DATA_DIR']
  const own = named ? resolve(folder, named) : join(project, '.heddle')
  const directories = named ? [own] : [own, join(dirname(starter), '.heddle')]
  for (const directory of new Set(directories)) {
    const url = await servedUrl({ directory, env }).catch(() => undefined)
    if (url !== undefined) return { url, isOwn: directory === own }
  }
  return undefined
}

function checkedUrl(typed: string, from: string): string {
  const url = URL.canParse(typed) ? new URL(typed) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new CommandError(`${from} must be an address like https://agents.example.org, ` +
      `not "${typed}"`, 'misused')
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new CommandError(`${from} must be an address alone: a key is given as --key or ` +
      'HEDDLE_API_KEY', 'misused')
  }
  return url.href.replace(/\/$/, '')
}

/**
 * The deployment: as typed, as the project says, or by the name of its folder. Throws CommandError
 * if there is none of these, or it is no DNS label.
 */
export async function findName(source: ControlCommandSource, typed: TypedTarget,
  named: string | undefined): Promise<string> {
  if (named !== undefined && typed.deployment !== undefined && named !== typed.deployment) {
    throw new CommandError('Name the deployment once: as an argument or as --deployment', 'misused')
  }
  const name = named ?? typed.deployment ?? await nameOfProject(source, typed)
  if (isDeploymentName(name)) return name
  throw new CommandError(`"${name}" is no name of a deployment: use lower-case letters, digits ` +
    'and "-", as in a host name', 'misused')
}

async function nameOfProject(source: ControlCommandSource, typed: TypedTarget): Promise<string> {
  const { folder, isThere, deployment } = await projectTarget(source, typed)
  if (deployment !== undefined) return deployment
  if (!isThere) {
    throw new CommandError(`Name the deployment: there is no langgraph.json in ${folder}`,
      'misused')
  }
  const label = basename(folder).toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 60)
    .replace(/^-|-$/g, '')
  if (isDeploymentName(label)) return label
  throw new CommandError(`Name the deployment: the folder ${folder} has no name that it could have`,
    'misused')
}

async function projectTarget({ folder: here }: ControlCommandSource,
  { config }: TypedTarget): Promise<ProjectTarget> {
  const place = resolve(here, config ?? '.')
  const isFile = place.endsWith('.json')
  const folder = isFile ? dirname(place) : place
  const file = isFile ? place : join(folder, 'langgraph.json')
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return { folder, isThere: false }
  const heddle = memberOf(parsed(text), 'heddle')
  if (heddle === undefined) return { folder, isThere: true }
  const textOf = (name: string) => {
    const value = memberOf(heddle, name)
    if (value === undefined || typeof value === 'string') return value
    throw new CommandError(`heddle.${name} in ${file} must be a text`, 'misused')
  }
  const [url, deployment] = [textOf('url'), textOf('deployment')]
  return { folder, isThere: true, ...url !== undefined && { url },
    ...deployment !== undefined && { deployment } }
}

/** The object in a text; empty if it is broken, as the build reports faults of the file. */
function parsed(text: string): unknown {
  try {
    return valueIn(text)
  } catch {
    return {}
  }
}
