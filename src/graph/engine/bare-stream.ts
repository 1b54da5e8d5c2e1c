/** The engine's stream without the streams that its public method wraps around it. */

import type { ServedGraph } from '../project/graph-export.ts'

/** The methods of the engine's class that this relies on. */
export type PregelMethods = Pick<ServedGraph, 'stream' | '_streamIterator'>

/**
 * `stream` of a graph hands its items through three web streams, for callers who want to pipe or
 * to cancel them. If a run fails, these drop what was not read yet: events of steps that succeeded
 * would be lost. We only read, and cancel by a signal.
 */
export class BareStream {
  readonly #methods: PregelMethods

  /** `methods` is the prototype of the project's own copy of the engine. */
  constructor(methods: PregelMethods) {
    this.#methods = methods
  }

  /** Opens the stream; undefined for a graph that has its own way to stream. */
  open(graph: ServedGraph, input: unknown, options: object): AsyncIterable<unknown> | undefined {
    const { stream, _streamIterator } = this.#methods
    if (graph.stream !== stream || graph._streamIterator !== _streamIterator) return undefined
    return graph._streamIterator?.(input, options)
  }
}
