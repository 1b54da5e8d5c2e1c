/** A graph bound to one thread's checkpoints, as the engine wants both together. */

import type { ServedGraph } from './graph-export.ts'
import type { HeddleSaver } from './saver.ts'
import type { StateReader } from './state-reader.ts'

/**
 * The graph is shared by everybody: what differs for one use stands on an object of its own.
 * `channels` are the graph's, or others that do the same.
 */
export function bindSaver(graph: ServedGraph, saver: HeddleSaver | StateReader,
  channels: ServedGraph['channels'] = graph.channels): ServedGraph {
  return Object.create(graph, {
    checkpointer: { value: saver, writable: true },
    channels: { value: channels, writable: true },
  }) as ServedGraph
}
