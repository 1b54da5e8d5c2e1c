/** A graph with the checkpointer of one thread: the engine expects it as a member of the graph. */

import type { ServedGraph } from './graph-export.ts'
import type { HeddleSaver } from './saver.ts'
import type { StateReader } from './state-reader.ts'

/** All executions share `graph`: the checkpointer is set on an object that inherits from it. */
export function bindSaver(graph: ServedGraph, saver: HeddleSaver | StateReader): ServedGraph {
  return Object.create(graph, { checkpointer: { value: saver, writable: true } }) as ServedGraph
}
