/** The thread on the server, through the official client. */

import type { Checkpoint, Client, ThreadState } from '@langchain/langgraph-sdk'
import type { Gate } from '../../support/gate.ts'
import { collect } from '../../support/run-events.ts'
import type { Edit, RunPlan } from './life.ts'
import { payloadOf, recursionLimit } from './place.ts'
import type { At, Part, Place, Ran } from './place.ts'

export class Served implements Place {
  readonly #client: Client
  readonly #graph: string
  readonly id: string

  constructor(client: Client, graph: string, id: string) {
    this.#client = client
    this.#graph = graph
    this.id = id
  }

  async run(runPlan: RunPlan): Promise<Ran> {
    let runId = ''
    const parts = await collect(this.#client.runs.stream(this.id, this.#graph, {
      ...await this.#wire(runPlan),
      onRunCreated: (run: { run_id: string }) => {
        runId = run.run_id
      },
    } as never))
    return { parts: seen(parts), result: await this.#client.runs.join(this.id, runId) }
  }

  /** Starts a run; `arrived` says whether it waits at the node, or else has ended. */
  async begin(runPlan: RunPlan, node: string,
    gate: Gate): Promise<{ runId: string; arrived: boolean }> {
    const { runs } = this.#client
    const payload = await this.#wire(runPlan, { hold: { node, url: gate.url } })
    const { run_id: runId } = await runs.create(this.id, this.#graph,
      { ...payload, streamResumable: true } as never)
    // Also ends when the server does.
    const ended = runs.join(this.id, runId).then(() => false, () => false)
    return { runId, arrived: await Promise.race([gate.arrived().then(() => true), ended]) }
  }

  async undo(runId: string): Promise<void> {
    await this.#client.runs.cancel(this.id, runId, true, 'rollback')
  }

  /** The outcome of a run that was begun. */
  async ended(runId: string): Promise<Ran> {
    const { runs } = this.#client
    const result = await runs.join(this.id, runId)
    const stream = runs.joinStream(this.id, runId, { lastEventId: '-1' })
    return { parts: seen(await collect(stream)), result }
  }

  update({ values, asNode }: Pick<Edit, 'values' | 'asNode'>,
    checkpoint: At | undefined): Promise<unknown> {
    return this.#client.threads.updateState(this.id, { values: values as Record<string, unknown>,
      ...asNode !== undefined && { asNode }, ...checkpoint && { checkpoint: checkpoint as never } })
  }

  async copy(): Promise<Served> {
    const { thread_id: id } = await this.#client.threads.copy(this.id)
    return new Served(this.#client, this.#graph, id)
  }

  async thread(): Promise<unknown> {
    const { status, interrupts } = await this.#client.threads.get(this.id)
    return status === 'error' ? { status } : { status, interrupts }
  }

  state(at?: At, subgraphs = false): Promise<ThreadState> {
    return this.#client.threads.getState(this.id, at as Checkpoint | undefined, { subgraphs })
  }

  history(checkpoint_ns = ''): Promise<ThreadState[]> {
    return this.#client.threads.getHistory(this.id, { limit: 1_000,
      ...checkpoint_ns !== '' && { checkpoint: { checkpoint_ns } } })
  }

  isRefusal(error: unknown): boolean {
    const { status = 0 } = error as { status?: number }
    return status >= 400 && status < 500
  }

  async #wire(runPlan: RunPlan, configurable: Record<string, unknown> = {}) {
    return { ...await payloadOf(this, runPlan), streamMode: ['values', 'updates'],
      streamSubgraphs: true, config: { recursion_limit: recursionLimit, configurable } }
  }
}

function seen(parts: readonly Part[]): Part[] {
  return parts.filter(({ event }) => event !== 'metadata')
    .map(({ event, data }) => ({ event, data }))
}
