/** Nodes by their paths from the root of a graph: `research:ask`. Pure. */

import type { GraphDescription } from './execution.ts'

/** The part of a graph's description that names its nodes. */
export type GraphNodes = Pick<GraphDescription, 'nodes' | 'subgraphNodes'>

/** The paths of all nodes that are known. */
export function pathsOf({ nodes, subgraphNodes = [] }: GraphNodes): readonly string[] {
  return [...nodes, ...subgraphNodes]
}

/** The nodes whose subgraphs a node is in, outermost first: `a` and `a:b` for `a:b:c`. */
export function nodesAround(path: string): readonly string[] {
  const names = path.split(':')
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join(':'))
}

/**
 * True if a graph has a node. Where its subgraphs are not known, the root node on the path is
 * what counts: a stricter rule would refuse every answer to a revision that an earlier version of
 * Heddle described. Where they are known, a node that only was a subgraph before has nothing
 * inside. Its function may call the same graph, but may as well forget the answer.
 */
export function hasNode({ nodes, subgraphNodes }: GraphNodes, path: string): boolean {
  if (nodes.includes(path)) return true
  if (subgraphNodes) return subgraphNodes.includes(path)
  return nodes.includes(nodesAround(path)[0] ?? path)
}
