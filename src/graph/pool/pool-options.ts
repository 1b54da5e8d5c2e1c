/** The settings of a pool of graph workers, and the events that it reports. */

import type { CompiledProject } from '../project/project-compiler.ts'
import type { ExecutionMarks } from './execution-marks.ts'
import type { TakePrinted } from './printed-lines.ts'
import type { WorkerLink } from './worker-link.ts'
import type { WorkerMail } from './worker-mail.ts'

/** Events that a pool reports to its host. */
export interface PoolEvents {
  /** A worker can take work: it is new, or has responded to a ping. */
  ready(): void
  mail(link: WorkerLink, mail: WorkerMail): void
  /** The worker was silent for so long that it must be stuck in a graph's code. */
  stuck(link: WorkerLink): void
  /** The worker takes no more work. It is reserved for the execution that blocks it. */
  withdrawn(link: WorkerLink): void
  /** The worker serves an earlier project and has taken too long to finish. */
  outdated(link: WorkerLink): void
  /** The worker has ended, for whatever reason. */
  ended(link: WorkerLink): void
  /** Resolves when a worker that ends has handed over its traces, or has taken too long. */
  handOver(link: WorkerLink): Promise<void>
}

/** Settings of a pool, which never change. A reload replaces the project only. */
export interface PoolOptions {
  readonly project: CompiledProject
  readonly workers: number
  /** MiB that the graphs of one worker may fill. */
  readonly heapMb: number
  /** The environment of graphs. */
  readonly variables: NodeJS.ProcessEnv
  /** File in which workers mark the runs that they execute; missing if they mark none. */
  readonly marks?: ExecutionMarks | undefined
  /** The share of runs whose steps are traced; missing for none. */
  readonly tracedRatio?: number | undefined
  /** Takes what workers print outside of runs; missing if the log takes all that they print. */
  readonly printed?: TakePrinted | undefined
  /** Called before a worker imports the file of a graph, and with null after the last one. */
  readonly loading?: ((graphId: string | null) => void) | undefined
}
