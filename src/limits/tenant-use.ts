/** Use of a tenant that quotas bound, and the share of one thread's row in it. */

import type { RunRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'

/** Use of a tenant, or of one of its threads. */
export interface TenantUse {
  /** Threads without hidden ones, which are deleted with their runs. */
  readonly threads: number
  /** Bytes of the logs of threads, assistants and crons, and of items. */
  readonly bytes: number
  /** Unfinished runs, delayed ones included. */
  readonly runs: number
  /** Unfinished runs that wait for their time. */
  readonly delayedRuns: number
  readonly crons: number
}

/** Use of a tenant that has nothing. */
export const noUse: TenantUse = { threads: 0, bytes: 0, runs: 0, delayedRuns: 0, crons: 0 }

/** The fields of an unfinished run that tell whether it waits for its time. */
type Waiting = Pick<RunRow, 'status' | 'started' | 'notBeforeMs'>

/** Use of one thread, by its row. */
export function useOfThread(
  { hidden, storedBytes, unfinished }: Pick<ThreadRow, 'hidden' | 'storedBytes' | 'unfinished'>,
): TenantUse {
  return { threads: hidden ? 0 : 1, bytes: storedBytes, runs: unfinished.length,
    delayedRuns: unfinished.filter(isDelayed).length, crons: 0 }
}

/**
 * Time at which a thread must be awake although all its unfinished runs wait for theirs: the first
 * of these times, in milliseconds. 0 if it must be awake at once, or has no unfinished run.
 */
export function dueAtMs(unfinished: readonly Waiting[]): number {
  if (unfinished.length === 0 || !unfinished.every(isDelayed)) return 0
  return Math.min(...unfinished.map(({ notBeforeMs }) => notBeforeMs))
}

/** The sum of the answers of several members. */
export function sumOfUses(uses: readonly TenantUse[]): TenantUse {
  return uses.reduce((sum, use) => ({
    threads: sum.threads + use.threads,
    bytes: sum.bytes + use.bytes,
    runs: sum.runs + use.runs,
    delayedRuns: sum.delayedRuns + use.delayedRuns,
    crons: sum.crons + use.crons,
  }), noUse)
}

function isDelayed({ status, started, notBeforeMs }: Waiting): boolean {
  return status === 'pending' && !started && notBeforeMs > 0
}
