/** The questions that a graph process was asked, inside of it. */

import type { CheckpointSource, GraphHost } from '../execution.ts'
import { nobodyWaits, resultOf } from '../pool/worker-mail.ts'
import type { FromProcess, ProcessInquiry, ReadFor, ToProcess } from './process-mail.ts'

type Asked = Pick<GraphHost, 'ask' | 'schemas' | 'subgraphSchemas' | 'drawable'>

/** Passes questions from the server to the host, and the answers back. */
export class HostedQuestions {
  readonly #host: Asked
  readonly #send: (mail: FromProcess) => void
  readonly #sourceFor: (of: ReadFor) => CheckpointSource
  readonly #open = new Map<number, AbortController>()

  constructor(host: Asked, send: (mail: FromProcess) => void,
    sourceFor: (of: ReadFor) => CheckpointSource) {
    this.#host = host
    this.#send = send
    this.#sourceFor = sourceFor
  }

  async ask({ asking, inquiry }: ToProcess & { type: 'ask' }): Promise<void> {
    const abort = new AbortController()
    this.#open.set(asking, abort)
    const result = await resultOf(this.#answer(asking, inquiry, abort.signal))
    this.#open.delete(asking)
    if (!abort.signal.aborted) this.#send({ type: 'answer', asking, result })
  }

  /** Stops answering, as soon as a worker can. */
  cancel(asking: number): void {
    this.#open.get(asking)?.abort(nobodyWaits())
  }

  async #answer(asking: number, inquiry: ProcessInquiry, cancelled: AbortSignal): Promise<unknown> {
    const { graphId } = inquiry
    switch (inquiry.kind) {
      case 'state': {
        const source = this.#sourceFor({ kind: 'asking', id: asking })
        return this.#host.ask(graphId, inquiry.threadId, inquiry.question, source, cancelled)
      }
      case 'schemas':
        return this.#host.schemas(graphId, inquiry.configurable)
      case 'subgraphSchemas':
        return this.#host.subgraphSchemas(graphId, inquiry.namespace, inquiry.recurse,
          inquiry.configurable)
      case 'drawable':
        return this.#host.drawable(graphId, inquiry.xray, inquiry.configurable)
    }
  }
}
