/** Loads a revision: fetches and unpacks it, and starts its graph process. */

import { join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { standIns, valueHider } from '../../graph/index.ts'
import type { GraphProcess, GraphProcessOptions, LoggedRun, NetworkWall, RunLogs, Suspects,
  WrittenLines } from '../../graph/index.ts'
import { platformHere, platformName, RevisionError } from '../../revision/index.ts'
import type { Manifest, RevisionCache } from '../../revision/index.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments, DeploymentSecrets } from '../deployments.ts'
import type { Revision } from '../revision.ts'
import { loadedSecretsOf } from '../loaded-secrets.ts'
import { secretsKey } from '../secret-set.ts'
import type { SecretSet } from '../secret-set.ts'
import type { CompileCaches } from './compile-caches.ts'
import { hidingLog } from './hiding-log.ts'
import type { ProcessMemory } from './process-memory.ts'

/** Parts of the member with which a revision is loaded. */
export interface LoadParts {
  readonly deployments: Deployments
  readonly secrets: DeploymentSecrets
  readonly cache: Pick<RevisionCache, 'hold'>
  readonly start: (options: GraphProcessOptions) => Promise<GraphProcess>
  readonly compileCaches: Pick<CompileCaches, 'hold'>
  /** Finds the namespace for replays as a user; missing for none. */
  readonly networkWall?: (user: number | undefined) => Promise<NetworkWall | undefined>
  /** The share of runs whose steps are traced; missing for none. */
  readonly tracedRatio?: number | undefined
  /** True to leave the logins out that projects name; by default false. */
  readonly ignoreAuth?: boolean | undefined
  /** Time that a login may take to answer, in milliseconds; by default 10 000. */
  readonly appTimeoutMs?: number | undefined
  readonly env: Env
}

/** Request to load a revision, with receivers for the output of its process. */
export interface LoadRequest {
  readonly deployment: Deployment
  /** The deployment of the same tenant that a preview takes secrets of. */
  readonly original: Deployment | undefined
  readonly revision: string
  /** Its own secrets; undefined for those that programs before sets know. */
  readonly secrets: SecretSet | undefined
  readonly memory: ProcessMemory
  readonly signal: AbortSignal
  /** Milliseconds that its graphs may take to load, where that is less than usual. */
  readonly startMs: number | undefined
  /** Takes a line that its code wrote outside of runs, without values of secrets. */
  readonly printed: (line: string, level: 'info' | 'warn') => void
  /** Takes lines of a run, without values of secrets. */
  readonly wrote: (run: LoggedRun, lines: WrittenLines) => void
  /** Has the lines of runs, without values of secrets. */
  readonly runLogs: RunLogs
  readonly suspects: Suspects
  readonly died: (reason: string) => void
  /** True for a process that replays recorded runs: without secrets, a network and a login. */
  readonly replays?: boolean
}

/** A graph process with what has to be given back after it. */
export interface LoadedProcess {
  readonly graph: GraphProcess
  /** Names and versions of its secrets. */
  readonly secretVersions: string
  /** Hides the values of its secrets. */
  readonly hide: (text: string) => string
  /** Gives back its memory, and lets the cache remove its files. Call when it has ended. */
  release(): void
}

/**
 * Loads a revision. Throws HeddleError, with `retry: 'no'` if another try is useless. After an
 * error, nothing is left of the process.
 */
export async function loadRevision(parts: LoadParts, request: LoadRequest): Promise<LoadedProcess> {
  const releases: (() => void)[] = []
  const release = () => releases.splice(0).forEach((each) => each())
  try {
    return { ...await load(parts, request, releases), release }
  } catch (error) {
    release()
    throw request.signal.aborted ? request.signal.reason : loadFault(error)
  }
}

async function load(parts: LoadParts,
  { deployment, original, revision: name, memory, signal, runLogs, ...request }: LoadRequest,
  releases: (() => void)[]): Promise<Omit<LoadedProcess, 'release'>> {
  const { deployments, cache, start, compileCaches, tracedRatio, ignoreAuth, appTimeoutMs, env } =
    parts
  const revision = await deployments.revision(deployment, name)
  requireKept(revision)
  const manifest = await deployments.manifest(revision)
  requirePlatform(manifest)
  const held = await cache.hold(manifest, deployments.readChunks(deployment.id), signal)
  releases.push(held.release)
  const { limits, record } = deployment
  releases.push(await memory.reserve(limits.memory_mb))
  const compiled = await compileCaches.hold(deployment.id)
  releases.push(compiled.release)
  signal.throwIfAborted()
  // Before their values: a change in between makes another process, and is not missed.
  const owned = { deployment, original, set: request.secrets }
  const secretVersions = await secretVersionsOf(parts.secrets, owned)
  const secrets = await secretsOf(parts.secrets, owned)
  const hide = valueHider(Object.values(secrets))
  const { replays = false } = request
  const variables = { ...manifest.env, ...secrets }
  const options: GraphProcessOptions = {
    configFile: held.configFile,
    // Packages lie beside the own files.
    folder: join(held.root, '..'),
    variables: replays ? standIns(variables, Object.keys(secrets)) : variables,
    secretNames: Object.keys(secrets),
    record: record ?? undefined,
    workers: replays ? 1 : limits.workers,
    memoryMb: limits.memory_mb,
    allowsAddons: manifest.platform !== null,
    compileCache: compiled.folder,
    user: compiled.user,
    tracedRatio: replays ? undefined : tracedRatio,
    ignoreAuth: replays || ignoreAuth,
    replays,
    networkWall: replays ? await parts.networkWall?.(compiled.user) : undefined,
    appTimeoutMs,
    startMs: request.startMs,
    env: { ...env, log: hidingLog(env.log, hide) },
    suspects: request.suspects,
    runLogs: { add: (run, lines) => runLogs.add(run, hidden(lines, hide)),
      read: (...question) => runLogs.read(...question) },
    printed: (line, level) => request.printed(hide(line), level),
    wrote: (run, lines) => request.wrote(run, hidden(lines, hide)),
    died: (reason) => request.died(hide(reason)),
  }
  const graph = await start(options).catch((error: unknown) => {
    const { code, message } = loadFault(error)
    // Without its cause: that has the message as it was.
    throw new HeddleError(code, hide(message))
  })
  if (!replays && !isDescribed(manifest, graph)) {
    await graph.close()
    throw new HeddleError('graph_failed', 'The revision was built before its login and its app ' +
      'could be served: deploy it again.')
  }
  return { graph, hide, secretVersions }
}

/**
 * False if the front door would not know what the project brings, and so would leave out what may
 * guard the rest.
 */
function isDescribed({ settings }: Manifest, graph: GraphProcess): boolean {
  const { login, routes } = graph.app?.() ?? {}
  return (login === undefined || settings?.auth !== undefined)
    && (routes === undefined || settings?.http?.app !== undefined)
}

function hidden({ lines, dropped }: WrittenLines, hide: LoadedProcess['hide']): WrittenLines {
  return { dropped, lines: lines.map((line) => ({ ...line, text: hide(line.text) })) }
}

/** Owner of the secrets that a process gets. */
export interface OwnedSecrets {
  readonly deployment: Deployment
  /** The deployment of the same tenant that it is a preview of. */
  readonly original: Deployment | undefined
  /** The set of the deployment itself; undefined if it has loaded none. */
  readonly set: SecretSet | undefined
}

/** The secrets that a process gets now, without values, as a text to compare. */
export async function secretVersionsOf(secrets: Pick<DeploymentSecrets, 'list'>,
  { deployment, original, set }: OwnedSecrets): Promise<string> {
  const inherited = original && await versionsOf(secrets, original, loadedSecretsOf(original))
  return JSON.stringify([await versionsOf(secrets, deployment, set), inherited ?? null])
}

async function versionsOf(secrets: Pick<DeploymentSecrets, 'list'>, { id }: Deployment,
  set: SecretSet | undefined): Promise<string> {
  if (set !== undefined) return secretsKey(set)
  const list = await secrets.list(id)
  return JSON.stringify(list.map(({ name, version }) => `${name} ${version}`).toSorted())
}

/** Values of the secrets. Those of the deployment win over those of its original. */
export async function secretsOf(secrets: Pick<DeploymentSecrets, 'reveal'>,
  { deployment, original, set }: OwnedSecrets): Promise<Readonly<Record<string, string>>> {
  const inherited = original ? await secrets.reveal(original.id, loadedSecretsOf(original)) : {}
  return { ...inherited, ...await secrets.reveal(deployment.id, set) }
}

function requireKept({ name, state, reason }: Revision): void {
  if (state === 'removed') throw new HeddleError('not_found', `Revision ${name} was removed.`)
  if (state === 'refused') {
    throw new HeddleError('graph_failed', reason ?? `Revision ${name} was refused.`)
  }
}

function requirePlatform({ platform }: Manifest): void {
  if (platform === null) return
  const here = platformName(platformHere())
  if (platform !== here) {
    throw new HeddleError('graph_failed',
      `The revision has packages for ${platform}, and this member runs on ${here}.`)
  }
}

/** Error of a failed load, for faults of the store, the disk or the archive. */
function loadFault(error: unknown): HeddleError {
  if (error instanceof RevisionError) {
    return new HeddleError('graph_failed', error.message, {}, { cause: error })
  }
  const fault = HeddleError.from(error)
  return fault.code !== 'internal'
    ? fault
    : new HeddleError('unavailable', 'The revision cannot be loaded right now.', {}, {
      cause: error,
    })
}
