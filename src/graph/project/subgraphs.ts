/** The graphs that nodes of a graph have inside, as far as the engine sees them. */

import type { ServedGraph } from './graph-export.ts'

/** A node, and the graph inside it. A node that names several graphs is listed with each. */
export interface Subgraph {
  readonly node: string
  readonly graph: ServedGraph
}

/** The graphs of a graph's own nodes. One that runs on another server has no nodes here. */
export async function subgraphsOf(graph: ServedGraph): Promise<readonly Subgraph[]> {
  const found: Subgraph[] = []
  for await (const [node, inside] of graph.getSubgraphsAsync()) {
    if (typeof inside.nodes === 'object') found.push({ node, graph: inside as ServedGraph })
  }
  return found
}

/** Nodes of subgraphs that a description may have. */
const pathsMax = 1_000

/**
 * The nodes of all subgraphs, as paths from the root: `research:ask`. Undefined if the engine fails
 * to list them, or if there are more than 1 000.
 */
export async function subgraphNodes(graph: ServedGraph): Promise<readonly string[] | undefined> {
  const paths = new Set<string>()
  try {
    await addPaths(paths, '', graph)
  } catch {
    return undefined
  }
  return paths.size <= pathsMax ? [...paths] : undefined
}

async function addPaths(paths: Set<string>, above: string, graph: ServedGraph): Promise<void> {
  for (const { node, graph: inside } of await subgraphsOf(graph)) {
    for (const name of nodeNames(inside)) paths.add(`${above}${node}:${name}`)
    if (paths.size <= pathsMax) await addPaths(paths, `${above}${node}:`, inside)
  }
}

/** The names of a graph's own nodes. */
export function nodeNames({ nodes }: Pick<ServedGraph, 'nodes'>): string[] {
  return Object.keys(nodes).filter((name) => name !== '__start__')
}
