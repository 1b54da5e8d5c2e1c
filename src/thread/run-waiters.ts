/** Who waits for a run's result, and the runs whose end is on its way to disk. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'

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

  refuse(runId: string, reason: HeddleError): void {
    for (const { reject } of this.#waiters.get(runId) ?? []) reject(reason)
    this.#waiters.delete(runId)
  }

  refuseAll(reason: HeddleError): void {
    for (const runId of this.#waiters.keys()) this.refuse(runId, reason)
    this.#lastEnded.clear()
  }

  /** As soon as that is known; whoever comes from now on is not among them. */
  refuseAllWith(reason: Promise<HeddleError>): void {
    const result = reason.then((error) => { throw error })
    result.catch(() => {})
    for (const runId of this.#waiters.keys()) this.answer(runId, result)
    this.#lastEnded.clear()
  }

  /** Until it is on disk: then the table has it, and a record may be large. */
  keep(run: RunRow, durable: Promise<void>): void {
    this.#lastEnded.set(run.runId, run)
    const forget = () => this.forget(run.runId)
    durable.then(forget, forget)
  }

  lastEnded(runId: string): RunRow | undefined {
    return this.#lastEnded.get(runId)
  }

  forget(runId: string): void {
    this.#lastEnded.delete(runId)
  }
}

/** Of a run that is on no disk, or may be where its store was closed meanwhile. */
export function unwritten(caught: unknown): HeddleError {
  const error = HeddleError.from(caught)
  return error.with({ unwritten: !error.ambiguous })
}
