/** Who waits for a run's result, and the runs that ended last, for those who ask a moment late. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../checkpoint/index.ts'
import type { HeddleError } from '../errors.ts'

const lastEndedMax = 4

export class RunWaiters {
  readonly #waiters = new Map<string, PromiseWithResolvers<JsonText>[]>()
  readonly #lastEnded = new Map<string, RunRow>()

  wait(runId: string): Promise<JsonText> {
    const waiter = Promise.withResolvers<JsonText>()
    this.#waiters.set(runId, [...this.#waiters.get(runId) ?? [], waiter])
    return waiter.promise
  }

  has(runId: string): boolean {
    return this.#waiters.has(runId)
  }

  answer(runId: string, result: Promise<JsonText>): void {
    for (const { resolve } of this.#waiters.get(runId) ?? []) resolve(result)
    this.#waiters.delete(runId)
    result.catch(() => {})
  }

  refuseAll(reason: HeddleError): void {
    for (const waiters of this.#waiters.values()) for (const { reject } of waiters) reject(reason)
    this.#waiters.clear()
    this.#lastEnded.clear()
  }

  keep(run: RunRow): void {
    this.#lastEnded.set(run.runId, run)
    const [oldest] = this.#lastEnded.keys()
    if (this.#lastEnded.size > lastEndedMax) this.#lastEnded.delete(oldest!)
  }

  lastEnded(runId: string): RunRow | undefined {
    return this.#lastEnded.get(runId)
  }

  forget(runId: string): void {
    this.#lastEnded.delete(runId)
  }
}
