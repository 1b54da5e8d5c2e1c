/** The callers that wait for results of runs. */

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'

interface Waiter extends Omit<PromiseWithResolvers<JsonText>, 'promise'> {
  /** Called when it is answered. */
  unlisten(): void
}

/** The waiting callers of one thread, by run. */
export class RunWaiters {
  readonly #waiters = new Map<string, Set<Waiter>>()

  /**
   * Resolves with the run's result; rejects with the reason of `cancelled` if that aborts first.
   */
  wait(runId: string, cancelled?: AbortSignal): Promise<JsonText> {
    if (cancelled?.aborted) return Promise.reject(HeddleError.from(cancelled.reason))
    const { promise, resolve, reject } = Promise.withResolvers<JsonText>()
    const waiters = this.#waiters.get(runId) ?? new Set()
    const go = () => {
      waiters.delete(waiter)
      if (waiters.size === 0) this.#waiters.delete(runId)
      reject(HeddleError.from(cancelled!.reason))
    }
    const waiter = { resolve, reject, unlisten: () => cancelled?.removeEventListener('abort', go) }
    cancelled?.addEventListener('abort', go)
    this.#waiters.set(runId, waiters.add(waiter))
    return promise
  }

  /** True if any caller waits for a run. */
  get any(): boolean {
    return this.#waiters.size > 0
  }

  has(runId: string): boolean {
    return this.#waiters.has(runId)
  }

  answer(runId: string, result: Promise<JsonText>): void {
    for (const { resolve } of this.#take(runId)) resolve(result)
    result.catch(() => {})
  }

  refuse(runId: string, reason: HeddleError): void {
    for (const { reject } of this.#take(runId)) reject(reason)
  }

  refuseAll(reasonFor: (runId: string) => HeddleError): void {
    for (const runId of this.#waiters.keys()) this.refuse(runId, reasonFor(runId))
  }

  /** Refuses those who wait now as soon as the reason is known. */
  refuseAllWith(reason: Promise<HeddleError>): void {
    const result = reason.then((error) => {
      throw error
    })
    result.catch(() => {})
    for (const runId of this.#waiters.keys()) this.answer(runId, result)
  }

  #take(runId: string): Iterable<Waiter> {
    const waiters = this.#waiters.get(runId) ?? []
    this.#waiters.delete(runId)
    for (const { unlisten } of waiters) unlisten()
    return waiters
  }
}

/** Marks the error as `unwritten`, unless the run may have been written. */
export function unwritten(caught: unknown): HeddleError {
  const error = HeddleError.from(caught)
  return error.with({ unwritten: error.outcome === 'not_done' })
}
