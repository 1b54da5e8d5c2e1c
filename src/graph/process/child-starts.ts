/** Builds the starts of the processes of one project: flags, environment and bounds. */

import { fileURLToPath } from 'node:url'

import type { CompiledProject } from '../project/project-compiler.ts'
import type { ReaderBounds } from '../typescript/project-types.ts'
import type { ChildStart } from './graph-child.ts'
import type { GraphProcessOptions } from './graph-process.ts'
import { ownCode } from './own-code.ts'
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
  const { workers, memoryMb, tracedRatio, folder, user } = options
  const own = ownCode()
  const flags = processFlags({ ...options, ownCode: own,
    guard: fileURLToPath(new URL('./thread-guard.ts', import.meta.url)),
    knows: (flag) => process.allowedNodeEnvironmentFlags.has(flag) })
  const startOf = (workersOf: number): ChildStart => ({
    flags,
    environment: processSees(options, process.env),
    folder: project.root,
    user,
    memoryMb,
    startMs: Math.min(options.startMs ?? startMs, startMs),
    start: { project, workers: workersOf, heapMb: heapOfWorker(memoryMb, workersOf),
      environment: graphsSee(options, process.env),
      ...tracedRatio !== undefined && { tracedRatio } },
  })
  return { main: startOf(workers), apart: startOf(1),
    readOnly: { flags: readOnly([folder, ...own]), user } }
}
