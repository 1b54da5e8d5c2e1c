/** The deployments that a member serves: what it knows of them, and the graphs it has loaded. */

import type { ComponentSource, DeployedGraphs, GraphProcess,
  RunningGraphHost } from '../../graph/index.ts'
import type { Deployment } from '../deployment.ts'
import type { PrepareRequest, Prepared, RevisionTally } from '../rollout/member-port.ts'
import type { DeploymentLine, LineQuery } from './deployment-lines.ts'

/**
 * absent    nothing of it is here
 * loading   it is fetched and unpacked, and its process starts
 * ready     it executes runs
 * leaving   what it executes ends; it takes nothing new
 * broken    it could not be loaded; it is tried again after a pause
 */
export type LoadState = 'absent' | 'loading' | 'ready' | 'leaving' | 'broken'

/** A graph process, for metrics and the page of the cluster. */
export interface LoadedRevision {
  readonly deployment: string
  readonly revision: string
  readonly envVersion: number
  readonly state: LoadState
  readonly executing: number
  /** Bytes of memory; null if it has no process. */
  readonly memoryBytes: number | null
  readonly deaths: number
}

/** A revision that takes new runs, and that a member cannot load. */
export interface ServingProblem {
  readonly deployment: string
  readonly revision: string
  readonly reason: string
  /** True if none of its graphs can be executed. */
  readonly isWhole: boolean
  /** Milliseconds since 1970. */
  readonly sinceMs: number
}

/** Counts of graph processes since the start of the member. */
export interface ServingStats {
  /** Graph processes that were started, for whatever reason. */
  readonly starts: number
  /** Those that ended by themselves. */
  readonly deaths: number
}

/** Finds the address at which a deployment answers its own code. */
export type UrlOfDeployment = (name: string) => Promise<string>

/** A process that replays recorded runs. */
export interface ReplayProcess {
  readonly graph: Pick<GraphProcess, 'describe' | 'execute'>
  /** Ends it, whatever runs in it. */
  close(): Promise<void>
}

/** The deployments of one member. */
export interface Serving extends DeployedGraphs {
  /** A deployment by name, as this member knows it. Throws `not_found`. */
  find(name: string): Promise<Deployment>
  /** All deployments, as this member knows them. From memory. */
  all(): readonly Deployment[]
  /** A deployment by one of its hosts; undefined if there is none. From memory. */
  named(host: string): Deployment | undefined
  /** Reads a deployment anew. */
  learn(name: string): Promise<void>
  /** Calls back after each change of a deployment that this member learns of. */
  watch(name: string, changed: (deployment: Deployment) => void): () => void
  prepare(options: PrepareRequest): Promise<Prepared>
  tally(options: PrepareRequest): RevisionTally
  /** The last lines that the code of a deployment wrote on this member, also before its start. */
  lines(deployment: string, query: LineQuery): Promise<readonly DeploymentLine[]>
  /** The components of a deployment's user interface. */
  components(deployment: string): ComponentSource
  /** Starts a process of a revision that replays recorded runs, and serves nobody. */
  openReplay(deployment: Deployment, revision: string, signal: AbortSignal): Promise<ReplayProcess>
  loaded(): readonly LoadedRevision[]
  /** Revisions that this member could not load. */
  problems(): readonly ServingProblem[]
  /**
   * Throws `graph_failed` with the reason if this member knows that a deployment cannot serve.
   * Loading is tried again from time to time.
   */
  requireServes(name: string): Promise<void>
  stats(): ServingStats
  /** Lets graph processes know where this server answers, as the own project's. */
  useHost: Pick<RunningGraphHost, 'useItems' | 'useTraces'> & {
    /** Gives the address of each deployment, for its own code; undefined for none. */
    servedAt(urlOf: UrlOfDeployment | undefined): Promise<void>
  }
  /** Lets runs stop at their next superstep. */
  drain(deadline: AbortSignal): Promise<void>
  close(): Promise<void>
}
