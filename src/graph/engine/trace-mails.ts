/** Sends bodies with traces out of a worker, and keeps the callers that wait for the answers. */

import { limitConcurrency } from '../../../cluster/index.ts'
import type { SendTraces, TraceBody } from './step-traces.ts'

/** Bodies that a worker sends at a time. The bound protects the main thread, which holds them. */
const bodiesAtOnce = 2

/** Sends bodies to the main thread. Lives in the worker. */
export class TraceMails {
  readonly #send: (tracing: number, body: TraceBody) => void
  readonly #waiting = new Map<number, (status: number) => void>()
  readonly #inTurn = limitConcurrency(bodiesAtOnce)
  #last = 0

  constructor(send: (tracing: number, body: TraceBody) => void) {
    this.#send = send
  }

  /** Resolves with the status of the answer. */
  readonly send: SendTraces = (body) => this.#inTurn(() => this.#ask(body))

  answer(tracing: number, status: number): void {
    this.#waiting.get(tracing)?.(status)
    this.#waiting.delete(tracing)
  }

  #ask(body: TraceBody): Promise<number> {
    const tracing = ++this.#last
    return new Promise((resolve) => {
      this.#waiting.set(tracing, resolve)
      this.#send(tracing, body)
    })
  }
}
