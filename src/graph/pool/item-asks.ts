/** Sends requests for items out of a worker, and keeps the jobs that wait for the answers. */

import { limitConcurrency } from '../../../cluster/index.ts'
import type { ItemOperation, ItemResult } from '../../items/index.ts'
import type { AskItems } from '../engine/graph-store.ts'
import { unwrap } from './worker-mail.ts'
import type { Result, WorkerMail } from './worker-mail.ts'

/**
 * Requests that a worker sends at a time. The others wait here, as the main thread holds what it
 * gets.
 */
const asksAtOnce = 64

/** Sends what jobs ask to the main thread. Lives in the worker. */
export class ItemAsks {
  readonly #send: (mail: WorkerMail) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly ItemResult[]>>()
  readonly #inTurn = limitConcurrency(asksAtOnce)
  #last = 0

  constructor(send: (mail: WorkerMail) => void) {
    this.#send = send
  }

  /** The items of one job. `entered` is called whenever code of the job may run. */
  of(job: number, entered: () => void): AskItems {
    return async (operations) => {
      entered()
      if (operations.length === 0) return []
      try {
        return await this.#inTurn(() => this.#ask(job, operations))
      } finally {
        entered()
      }
    }
  }

  answer(asking: number, result: Result<ItemResult[]>): void {
    const reply = this.#waiting.get(asking)
    this.#waiting.delete(asking)
    try {
      reply?.resolve(unwrap(result, 'unavailable'))
    } catch (error) {
      reply?.reject(error)
    }
  }

  #ask(job: number, operations: readonly ItemOperation[]): Promise<readonly ItemResult[]> {
    const reply = Promise.withResolvers<readonly ItemResult[]>()
    const asking = ++this.#last
    this.#waiting.set(asking, reply)
    this.#send({ type: 'items', job, asking, operations })
    return reply.promise
  }
}
