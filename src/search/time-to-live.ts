/**
 * Time at which a thread with a time to live is due: a question about its row, asked by its owner
 * and by the stores. Pure.
 */

import type { ThreadRow } from '../../proto/gen/storage/v1/row.ts'

/**
 * delete       the thread goes, with its runs and its history
 * keep_latest  its history goes, but for the newest state
 */
export const expiryStrategies = ['delete', 'keep_latest'] as const

/** Fate of a thread at the end of its time. */
export type ExpiryStrategy = typeof expiryStrategies[number]

/** Time to live of a thread, as a request or the project asks for it. */
export interface TimeToLiveRequest {
  readonly strategy: ExpiryStrategy
  readonly minutes: number
}

/** Time that a thread stays which was busy at its end: clients come for the result of its run. */
const busyGraceMs = 60_000

type Living = Pick<ThreadRow, 'timeToLive' | 'updatedAtMs' | 'deleted' | 'owedWebhooks'>

/**
 * Time at which the thread is due, in milliseconds since 1970. 0 if it lives until it is deleted,
 * or as long as it is busy or owes a webhook.
 */
export function expiryAtMs({ timeToLive, updatedAtMs, deleted, owedWebhooks }: Living,
  isBusy: boolean): number {
  if (timeToLive === undefined || isBusy || deleted || owedWebhooks.length > 0) return 0
  const { expiresAtMs } = timeToLive
  return updatedAtMs > expiresAtMs ? updatedAtMs + busyGraceMs : expiresAtMs
}

/** True if the thread's time has ended and it is to be deleted: no client may see it any more. */
export function isExpired(thread: Living, isBusy: boolean, nowMs: number): boolean {
  const atMs = expiryAtMs(thread, isBusy)
  return atMs > 0 && atMs <= nowMs && thread.timeToLive!.strategy === 'delete'
}
