/** Gives graph hosts the server's address, its long-term memory and a way for traces. */

import type { GraphItems, GraphProcess, WriteTraces } from '../../graph/index.ts'
import type { Serving, UrlOfDeployment } from './serving.ts'

/** Passes these on to all graph processes, and to those that are started later. */
export class HostWiring {
  readonly #each: () => Iterable<readonly [name: string, graph: GraphProcess]>
  /** Undefined until it is known whether the server answers clients; null if it does not. */
  #urlOf: UrlOfDeployment | null | undefined
  #items: GraphItems | undefined
  #traces: WriteTraces | undefined

  /** `each` gives the processes that there are, with the names of their deployments. */
  constructor(each: () => Iterable<readonly [name: string, graph: GraphProcess]>) {
    this.#each = each
  }

  /** Setters for the server. */
  readonly use: Serving['useHost'] = {
    servedAt: async (urlOf) => {
      this.#urlOf = urlOf ?? null
      await Promise.all([...this.#each()].map((each) => this.#place(...each)))
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

  /** Await with each new process before it executes anything. */
  async wire(name: string, graph: GraphProcess): Promise<void> {
    await this.#place(name, graph)
    if (this.#items) graph.useItems(this.#items)
    if (this.#traces) graph.useTraces(this.#traces)
  }

  /**
   * Sends the address to a process. Errors are ignored: a process without an address executes as
   * well.
   */
  async #place(name: string, graph: GraphProcess): Promise<void> {
    if (this.#urlOf === undefined) return
    graph.servedAt(await this.#urlOf?.(name).catch(() => undefined))
  }
}
