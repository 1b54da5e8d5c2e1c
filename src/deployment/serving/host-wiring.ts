/** Gives graph hosts the server's address, its long-term memory and a way for traces. */

import type { GraphItems, GraphProcess, WriteTraces } from '../../graph/index.ts'
import type { Deployment } from '../deployment.ts'
import type { Serving, UrlOfDeployment } from './serving.ts'

/** Passes these on to all graph processes, and to those that are started later. */
export class HostWiring {
  readonly #each: () => Iterable<readonly [name: string, graph: GraphProcess]>
  /** Ids of the deployments of processes. */
  readonly #ids = new WeakMap<GraphProcess, string>()
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
      for (const [, graph] of this.#each()) this.#trace(graph)
    },
  }

  /** Await with each new process before it executes anything. */
  async wire({ id, name }: Pick<Deployment, 'id' | 'name'>, graph: GraphProcess): Promise<void> {
    this.#ids.set(graph, id)
    await this.#place(name, graph)
    if (this.#items) graph.useItems(this.#items)
    this.#trace(graph)
  }

  /** Another deployment may get the name while a process hands over its traces. */
  #trace(graph: GraphProcess): void {
    const [write, id] = [this.#traces, this.#ids.get(graph)]
    if (write && id !== undefined) graph.useTraces((body) => write(body, id))
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
