/** The graphs of every namespace, as callers name and see them. */

import { HeddleError } from '../errors.ts'
import { isDeployment, noView } from './deployed.ts'
import type { DeployedGraphs } from './deployed.ts'
import type { GraphHost } from './execution.ts'
import { idleHost } from './idle-host.ts'

/** Finds the graphs that a namespace serves. */
export interface GraphHosts {
  /** Resolves when the graphs of the namespace are known. Throws `not_found`. */
  open(namespace: string): Promise<void>
  /**
   * The host of a revision, by default of the active one. It has no graphs if there is none. For
   * the server's own project it is always the same.
   */
  of(namespace: string, revision?: string): GraphHost
  /** True if no run of the namespace starts. Throws `unavailable` while that is not known. */
  isPaused(namespace: string): boolean
  /** True if a run of the namespace may ask for the revision. */
  hasRevision(namespace: string, revision: string): boolean
}

/** The graphs of the server's own project and of its deployments, if it has some. */
export function graphHosts(own: GraphHost, deployed: DeployedGraphs | undefined): GraphHosts {
  const nothing = idleHost()
  const viewOf = (namespace: string) =>
    deployed && isDeployment(namespace) ? deployed.view(namespace) ?? noView : undefined
  return {
    open: async (namespace) => {
      if (isDeployment(namespace)) await deployed?.open(namespace)
    },
    of: (namespace, revision) => {
      const view = viewOf(namespace)
      if (!view) return own
      const name = revision ?? view.active
      const isThere = name !== null && view.revisions.has(name)
      return isThere ? deployed!.hostOf(namespace, name) : nothing
    },
    isPaused: (namespace) => {
      if (!deployed || !isDeployment(namespace)) return false
      const view = deployed.view(namespace)
      if (view !== undefined) return view.paused
      throw new HeddleError('unavailable',
        'This member has no view of the deployment right now. Send the request again.')
    },
    hasRevision: (namespace, revision) => viewOf(namespace)?.revisions.has(revision) ?? false,
  }
}
