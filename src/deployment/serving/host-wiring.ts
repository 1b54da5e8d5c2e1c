/** What the server gives its graph hosts: its address, long-term memory, a place for traces. */

import type { GraphItems, GraphProcess, WriteTraces } from '../../graph/index.ts'
import type { Serving } from './serving.ts'

/** Passes it on to all graph processes, and to those that are started later. */
export class HostWiring {
  readonly #each: () => Iterable<readonly [name: string, graph: GraphProcess]>
  #url: string | undefined
  #items: GraphItems | undefined
  #traces: WriteTraces | undefined

  /** `each` gives the processes that there are, with the names of their deployments. */
  constructor(each: () => Iterable<readonly [name: string, graph: GraphProcess]>) {
    this.#each = each
  }

  /** For the server. */
  readonly use: Serving['useHost'] = {
    servedAt: (url) => {
      this.#url = url
      for (const [name, graph] of this.#each()) graph.servedAt(this.#urlOf(name))
    },
    useItems: (items) => {
      this.#items = items
      for (const [, graph] of this.#each()) graph.useItems(items)
    },
    useTraces: (write) => {
      this.#traces = write
      for (const [, graph] of this.#each()) graph.useTraces(write)
    },
  }

  /** Call with each new process before it executes anything. */
  wire(name: string, graph: GraphProcess): void {
    graph.servedAt(this.#urlOf(name))
    if (this.#items) graph.useItems(this.#items)
    if (this.#traces) graph.useTraces(this.#traces)
  }

  #urlOf(name: string): string | undefined {
    return this.#url && `${this.#url}/d/${name}`
  }
}
