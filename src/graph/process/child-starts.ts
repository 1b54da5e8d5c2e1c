/** Builds the starts of the processes of one project: flags, environment and bounds. */

import { fileURLToPath } from 'node:url'

import { bringsCode, defaultAppTimeoutMs } from '../app-thread/supervised-app.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import type { ReaderBounds } from '../typescript/project-types.ts'
import type { ChildStart } from './graph-child.ts'
import type { GraphProcessOptions } from './graph-process.ts'
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

const startMs = 60_000

/** The starts for these options, and for the environment of this server. */
export function childStarts(options: GraphProcessOptions, project: CompiledProject): ChildStarts {
  const { workers, memoryMb, folder, user } = options
  const own = ownCode()
  const flags = processFlags({ ...options, ownCode: own,
    guard: fileURLToPath(new URL('./thread-guard.ts', import.meta.url)), ...options.replays &&
    { networkGuard: fileURLToPath(new URL('../replay/network-guard.ts', import.meta.url)) },
    knows: (flag) => process.allowedNodeEnvironmentFlags.has(flag) })
  const { login: _login, app: _app, ...graphsOnly } = project
  const whole = options.replays ? replaying(graphsOnly) : project
  const startOf = (workersOf: number, isWhole: boolean): ChildStart => ({
    flags,
    environment: processSees(options, process.env),
    folder: project.root,
    user,
    memoryMb,
    startMs: Math.min(options.startMs ?? startMs, startMs),
    start: startWith(isWhole ? whole : graphsOnly, { ...options, workers: workersOf }),
  })
  return { main: startOf(workers, true), apart: startOf(1, false),
    readOnly: { flags: readOnly([folder, ...own]), user } }
}

/** The project without effects, which are answered, and without a recorder. */
function replaying(
  { effects: _effects, recording: _recording, ...project }: CompiledProject,
): CompiledProject {
  return { ...project, replays: true }
}

/** The project, whose recorder hides the values of the deployment's secrets. */
function hidingSecrets(project: CompiledProject,
  { secretNames }: GraphProcessOptions): CompiledProject {
  const { recording } = project
  return recording && secretNames
    ? { ...project, recording: { ...recording, secretNames } }
    : project
}

/** The start of a host. The login and the app have a share of the memory, as each worker has. */
function startWith(project: CompiledProject, options: GraphProcessOptions): ProcessStart {
  const { workers, memoryMb, tracedRatio, appTimeoutMs = defaultAppTimeoutMs } = options
  const hasApp = bringsCode(project)
  const heapMb = heapOfWorker(memoryMb, workers + (hasApp ? 1 : 0))
  return { project: hidingSecrets(project, options), workers, heapMb,
    environment: graphsSee(options, process.env),
    ...hasApp && { app: { heapMb, hangMs: appTimeoutMs } },
    ...tracedRatio !== undefined && { tracedRatio } }
}
