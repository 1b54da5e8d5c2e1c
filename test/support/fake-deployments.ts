/** The deployment of one namespace, whose revisions and hosts a test chooses. */

import { HeddleError } from '../../src/errors.ts'
import type { DeployedGraphs, DeploymentView, GraphDescription,
  GraphHost } from '../../src/graph/index.ts'

/** The namespace of the deployment. */
export const shop = 't@shop'

/** Graphs of a deployment in memory. */
export class FakeDeployments implements DeployedGraphs {
  active: string | null = 'r1'
  next: DeploymentView['next'] = null
  runTimeoutMs: number | undefined
  paused = false
  movesRuns = false
  /** Those that can be loaded. */
  readonly hosts = new Map<string, GraphHost>()
  /** How runs ended, as `r1 success`. */
  readonly ends: string[] = []
  readonly watchers = new Set<() => void>()

  open(namespace: string): Promise<void> {
    return namespace === shop
      ? Promise.resolve()
      : Promise.reject(new HeddleError('not_found', `There is no deployment ${namespace}.`))
  }

  view(namespace: string): DeploymentView | undefined {
    if (namespace !== shop) return undefined
    const revisions = new Map([...this.hosts].map(([name, host]) => [name, host.graphs()]))
    return { active: this.active, next: this.next, paused: this.paused, movesRuns: this.movesRuns,
      revisions, ...this.runTimeoutMs !== undefined && { runTimeoutMs: this.runTimeoutMs } }
  }

  hostOf(namespace: string, revision: string): GraphHost {
    const host = this.hosts.get(revision)
    if (namespace !== shop || !host) throw new Error(`no host of ${namespace} ${revision}`)
    return host
  }

  onChange(_: string, changed: () => void): () => void {
    // Of its own, so that the same function may watch twice.
    const watcher = () => changed()
    this.watchers.add(watcher)
    return () => void this.watchers.delete(watcher)
  }

  /** Changes it, and tells whoever watches. */
  change(change: Partial<Pick<FakeDeployments, 'active' | 'paused' | 'movesRuns'>>): void {
    Object.assign(this, change)
    for (const watcher of [...this.watchers]) watcher()
  }

  ended(namespace: string, revision: string, status: string): void {
    if (namespace === shop) this.ends.push(`${revision} ${status}`)
  }
}

/** A graph that is described with its nodes: those of subgraphs by their paths. */
export function aGraph(graphId: string, ...paths: readonly string[]): GraphDescription {
  const isInner = (path: string) => path.includes(':')
  return { graphId, description: null, stateChannels: ['log'], plain: true,
    nodes: paths.filter((path) => !isInner(path)), subgraphNodes: paths.filter(isInner),
    channels: ['log'] }
}
