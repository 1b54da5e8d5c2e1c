/** The graphs that nodes of a graph have inside, as far as the engine sees them. */

import { listOf, memberOf } from '../../json/index.ts'
import type { GraphDescription } from '../execution.ts'
import type { ServedGraph } from './graph-export.ts'

/** A node, and a graph inside it. */
export interface Subgraph {
  readonly node: string
  readonly graph: ServedGraph
  /** True if the node is a function that names the graph. It may call others as well. */
  readonly isCalled: boolean
}

/** The graphs of a graph's own nodes. One that runs on another server has no nodes here. */
export async function subgraphsOf(graph: ServedGraph): Promise<readonly Subgraph[]> {
  const found: Subgraph[] = []
  for await (const [node, inside] of graph.getSubgraphsAsync()) {
    if (typeof inside.nodes !== 'object') continue
    const isCalled = !isPartOf(graph.nodes[node]!.bound, inside)
    found.push({ node, graph: inside, isCalled })
  }
  return found
}

/** A node runs one thing, or several in a sequence. */
function isPartOf(bound: unknown, graph: object): boolean {
  return bound === graph || listOf(memberOf(bound, 'steps')).some((step) => isPartOf(step, graph))
}

/** Nodes of subgraphs that a description may have. */
const pathsMax = 1_000

/** The part of a description that names subgraphs. */
export type SubgraphNames = Pick<GraphDescription, 'subgraphs' | 'subgraphNodes'>

/**
 * The nodes of all subgraphs, and those that are subgraphs, as paths from the root. Empty if the
 * engine fails to list them, or if there are more than 1 000.
 */
export async function subgraphNames(graph: ServedGraph): Promise<SubgraphNames> {
  const [subgraphs, nodes] = [new Set<string>(), new Set<string>()]
  const add = async (above: string, outer: ServedGraph): Promise<void> => {
    for (const { node, graph: inner, isCalled } of await subgraphsOf(outer)) {
      const path = `${above}${node}`
      if (!isCalled) subgraphs.add(path)
      for (const name of nodeNames(inner)) nodes.add(`${path}:${name}`)
      if (nodes.size <= pathsMax) await add(`${path}:`, inner)
    }
  }
  try {
    await add('', graph)
  } catch {
    return {}
  }
  return nodes.size <= pathsMax ? { subgraphs: [...subgraphs], subgraphNodes: [...nodes] } : {}
}

/** The names of a graph's own nodes. */
export function nodeNames({ nodes }: Pick<ServedGraph, 'nodes'>): string[] {
  return Object.keys(nodes).filter((name) => name !== '__start__')
}
