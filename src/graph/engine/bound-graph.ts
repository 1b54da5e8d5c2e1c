/** A graph with the checkpointer and the store of one run, which the engine expects in it. */

import type { BaseStore } from '@langchain/langgraph'

import type { ServedGraph } from '../project/graph-export.ts'
import type { HeddleSaver } from '../state/saver.ts'
import type { StateReader } from '../state/state-reader.ts'

/** Nodes without inherited names, by graph. The engine looks a node up with `in`. */
const ownNodes = new WeakMap<ServedGraph, ServedGraph['nodes']>()

function nodesOf(graph: ServedGraph): ServedGraph['nodes'] {
  const known = ownNodes.get(graph)
  if (known) return known
  const nodes = Object.assign(Object.create(null) as ServedGraph['nodes'], graph.nodes)
  ownNodes.set(graph, nodes)
  return nodes
}

/**
 * Sets the checkpointer on an object that inherits from `graph`, which all executions share. A
 * store replaces the one that the graph was compiled with.
 */
export function bindSaver(graph: ServedGraph, saver: HeddleSaver | StateReader,
  store?: BaseStore): ServedGraph {
  return Object.create(graph, {
    checkpointer: { value: saver, writable: true },
    ...store && { store: { value: store, writable: true } },
    nodes: { value: nodesOf(graph), writable: true },
  }) as ServedGraph
}
