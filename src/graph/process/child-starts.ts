/** Builds the starts of the processes of one project: flags, environment and bounds. */

import { fileURLToPath } from 'node:url'

import { bringsCode, defaultAppTimeoutMs } from '../app-thread/supervised-app.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import type { ReaderBounds } from '../typescript/project-types.ts'
import type { ChildStart } from './graph-child.ts'
import type { GraphProcessOptions } from './graph-process.ts'
import { certificatesVariable, ownCertificates } from './own-certificates.ts'
import { ownCode } from './own-code.ts'
import type { ProcessStart } from './process-mail.ts'
import { graphsSee, heapOfWorker, processFlags, processSees, readOnly } from './process-flags.ts'

/** The starts of a project's processes. */
export interface ChildStarts {
  readonly main: ChildStart
  /** For one execution at a time. */
  readonly apart: ChildStart
  /** Bounds of a process that only reads the project. */
  readonly readOnly: ReaderBounds
}

/** Default time that loading may take. */
const loadMs = 60_000

/** The starts for these options, and for the environment of this server. */
export function childStarts(options: GraphProcessOptions, project: CompiledProject): ChildStarts {
  const { workers, memoryMb, folder, user, networkWall } = options
  const own = ownCode()
  const replays = options.replays === true
  const flags = processFlags({ ...options, ownCode: own, preloads: preloadsFor(replays), replays,
    knows: (flag) => process.allowedNodeEnvironmentFlags.has(flag) })
  const { login: _login, app: _app, ...graphsOnly } = project
  const whole = options.replays ? replaying(graphsOnly) : project
  const environment = processSees(options, process.env, certificatesOf(options, project.root))
  const startOf = (workersOf: number, isWhole: boolean): ChildStart => ({
    flags,
    environment,
    folder: project.root,
    user,
    networkWall,
    memoryMb,
    startMs: options.startMs ?? loadMs,
    start: startWith(isWhole ? whole : graphsOnly, { ...options, workers: workersOf }),
  })
  return { main: startOf(workers, true), apart: startOf(1, false),
    readOnly: { flags: readOnly([folder, ...own]), user } }
}

/** Path of the certificates that a deployment brings. Logs a warning if they cannot be used. */
function certificatesOf({ variables, folder, env }: GraphProcessOptions, root: string):
  | string
  | undefined {
  const { [certificatesVariable]: named } = variables
  if (named === undefined || named === process.env[certificatesVariable]) return undefined
  const file = ownCertificates(named, { root, folder })
  if (file === undefined) {
    env.log.warn(`${certificatesVariable} of a deployment has no effect: it must name a file of ` +
      'the revision, or the file that the server has.', { file: named })
  }
  return file
}

/** The guards of each thread, and after them its compile cache. */
function preloadsFor(replays: boolean): readonly string[] {
  const network = new URL('../guards/network-guard.ts', import.meta.url)
  return [
    new URL('../guards/thread-guard.ts', import.meta.url),
    new URL('../guards/socket-guard.ts', import.meta.url),
    new URL('../guards/signal-guard.ts', import.meta.url),
    new URL('../guards/v8-flags-guard.ts', import.meta.url),
    ...replays ? [network] : [],
    new URL('../guards/compile-cache.ts', import.meta.url),
  ].map((url) => fileURLToPath(url))
}

/** The project without effects, which are answered, and without a recorder. */
function replaying(
  { effects: _effects, recording: _recording, ...project }: CompiledProject,
): CompiledProject {
  return { ...project, replays: true }
}

/** The project with the names of the deployment's secrets, whose values are not stored. */
function hidingSecrets(project: CompiledProject,
  { secretNames }: GraphProcessOptions): CompiledProject {
  return secretNames ? { ...project, secretNames } : project
}

/** The start of a host. The login and the app have a share of the memory, as each worker has. */
function startWith(project: CompiledProject, options: GraphProcessOptions): ProcessStart {
  const { workers, memoryMb, tracedRatio, appTimeoutMs = defaultAppTimeoutMs } = options
  const hasApp = bringsCode(project)
  const heapMb = heapOfWorker(memoryMb, workers + (hasApp ? 1 : 0))
  return { project: hidingSecrets(project, options), workers, heapMb,
    environment: graphsSee(options, process.env),
    ...hasApp && { app: { heapMb, hangMs: appTimeoutMs, startMs: options.startMs } },
    ...tracedRatio !== undefined && { tracedRatio } }
}
