/** Deployments as threads and the front door see them: which graphs a namespace runs. */

import type { GraphDescription, GraphHost } from './execution.ts'
import type { ProjectSettings } from './project/project-settings.ts'

/** One member's knowledge of a deployment: its active revision, its graphs and its settings. */
export interface DeploymentView {
  /** The revision that new runs take, as `r12`; null before the first one is active. */
  readonly active: string | null
  /** A revision that takes a share of new runs, from 1 to 99 percent; null if there is none. */
  readonly next: { readonly revision: string; readonly percent: number } | null
  /** The graphs of all revisions that can be loaded, by the name of the revision. */
  readonly revisions: ReadonlyMap<string, readonly GraphDescription[]>
  /** No run of it starts; those that have started go on. */
  readonly paused: boolean
  /** Runs on other revisions go on with the one that new runs take, if that has their nodes. */
  readonly movesRuns: boolean
  /** Milliseconds that one of its runs may take at most; absent if it has no such bound. */
  readonly runTimeoutMs?: number
  /** Of the active revision; absent if its project has none. */
  readonly settings?: ProjectSettings | undefined
  /**
   * True if the settings are not known. Revisions are read after the record that names the active
   * one, which may be missing by then.
   */
  readonly lacksSettings?: boolean
}

/**
 * The graphs of deployments. A namespace is what rows, actors and indexes are keyed with: the
 * tenant alone for the project that the server was started with, `tenant@name` for a deployment.
 */
export interface DeployedGraphs {
  /**
   * Resolves when this member knows the deployment of the namespace: at once for one without a
   * deployment. Throws `not_found`.
   */
  open(namespace: string): Promise<void>
  /**
   * The deployment as this member knows it now; undefined without a deployment, or before `open`.
   */
  view(namespace: string): DeploymentView | undefined
  /**
   * The host of a revision, which is loaded when something is first executed or asked. With an
   * empty name, or without a deployment, it is that of the server's own project.
   */
  hostOf(namespace: string, revision: string): GraphHost
  /** Calls back after each change of the deployment that this member learns of. */
  onChange(namespace: string, changed: () => void): () => void
  /** Reports the end of a run to the watch of a roll-out. */
  ended(namespace: string, revision: string, status: string): void
}

/**
 * True for the namespace of a deployment, `tenant@name`. That of the server's own project has no
 * `@`.
 */
export function isDeployment(namespace: string): boolean {
  return namespace.includes('@')
}

/** Stands for a deployment that was removed: no active revision and no graphs. */
export const noView: DeploymentView = { active: null, next: null, paused: false, movesRuns: false,
  revisions: new Map() }
