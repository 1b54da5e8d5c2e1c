/** Differences for callers and waiting threads when one revision replaces another. Pure. */

import { hasNode, nodesAround, pathsOf } from '../graph/index.ts'
import type { GraphDescription } from '../graph/index.ts'
import type { Deployment } from './deployment.ts'
import type { Revision } from './revision.ts'

/** The report of a check, as the control API answers it. */
export interface CompatibilityReport {
  readonly graphs_added: readonly string[]
  readonly graphs_removed: readonly string[]
  /** Threads that wait there go on with the revision that has the node. */
  readonly nodes_removed: readonly { readonly graph_id: string; readonly node: string;
    readonly waiting_threads: number | null }[]
  readonly nodes_added: readonly GraphNode[]
  /** Channels that states of threads no longer show, although checkpoints hold them. */
  readonly channels_removed: readonly { readonly graph_id: string; readonly channel: string }[]
  /** Variables that its dotenv file names and the deployment has no secret for. */
  readonly wants_env_missing: readonly string[]
}

/** Compares a revision that was checked with the active one. */
export type ReportRevision = (deployment: Deployment,
  revision: Revision) => Promise<CompatibilityReport>

/** A node of a graph, by its path from the root: `research:ask`. */
export interface GraphNode {
  readonly graph_id: string
  readonly node: string
}

/** Threads that wait at a node, or at one inside it. */
export interface WaitingThreads extends GraphNode {
  readonly threads: number
}

/** The two revisions that are compared, and the threads that wait. */
export interface CompatibilityParts {
  /** The graphs of the active revision; none if there is none. */
  readonly before: readonly GraphDescription[]
  readonly after: readonly GraphDescription[]
  readonly waiting: readonly WaitingThreads[]
  readonly wantsEnv: readonly string[]
  readonly secretNames: readonly string[]
}

/**
 * Compares the graphs of two revisions. A removed graph has its removed nodes in the report. For a
 * removed subgraph, only its outer node is named.
 */
export function reportOf(
  { before, after, waiting, wantsEnv, secretNames }: CompatibilityParts,
): CompatibilityReport {
  const newer = new Map(after.map((graph) => [graph.graphId, graph]))
  const older = new Map(before.map((graph) => [graph.graphId, graph]))
  const threadsAt = ({ graph_id, node }: GraphNode) =>
    waiting.filter((each) => each.graph_id === graph_id && each.node === node)
      .reduce((sum, { threads }) => sum + threads, 0)
  return {
    graphs_added: [...newer.keys()].filter((id) => !older.has(id)),
    graphs_removed: [...older.keys()].filter((id) => !newer.has(id)),
    nodes_removed: before.flatMap((graph) => nodesLacking(newer.get(graph.graphId), graph)).map((
      node,
    ) => ({ ...node, waiting_threads: threadsAt(node) })),
    // The nodes of a graph that is new are no news.
    nodes_added: after.flatMap((graph) => nodesLacking(older.get(graph.graphId) ?? graph, graph)),
    channels_removed: before.flatMap((graph) => {
      const next = newer.get(graph.graphId)
      return withoutThose(channelsOf(graph) ?? [],
        (next && channelsOf(next)) ?? channelsOf(graph) ?? [])
        .map((channel) => ({ graph_id: graph.graphId, channel }))
    }),
    wants_env_missing: withoutThose(wantsEnv, secretNames),
  }
}

/** The outermost nodes of a graph that the other one lacks. */
function nodesLacking(other: GraphDescription | undefined,
  graph: GraphDescription): readonly GraphNode[] {
  const lacking = new Set(pathsOf(graph).filter((path) => !other || !hasNode(other, path)))
  return [...lacking].filter((path) => !nodesAround(path).some((outer) => lacking.has(outer)))
    .map((node) => ({ graph_id: graph.graphId, node }))
}

/** Names of the state channels; undefined if they are not known. */
function channelsOf({ stateChannels }: GraphDescription): readonly string[] | undefined {
  if (stateChannels === null) return undefined
  return typeof stateChannels === 'string' ? [stateChannels] : stateChannels
}

function withoutThose(all: readonly string[], those: readonly string[]): readonly string[] {
  return [...new Set(all)].filter((each) => !those.includes(each))
}
