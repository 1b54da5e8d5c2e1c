/** Acts on many threads at once: by their ids, or by a filter. */

import { ask, post } from './client.ts'
import { isOver } from './runs.ts'
import type { Run } from './runs.ts'
import type { ThreadFilter } from './threads.ts'

/** Threads to act on: chosen ones, or all that match a filter at the time of the call. */
export type BulkTarget =
  | { readonly kind: 'chosen'; readonly ids: readonly string[] }
  | { readonly kind: 'matching'; readonly filter: ThreadFilter }

/** Act on the threads of a target: deletes them, or cancels their runs. */
export type BulkAct = 'delete' | 'cancel'

/** Outcome of one call; `remaining` is 0 when nothing is left to do. */
export interface BulkStep {
  readonly done: number
  readonly remaining: number
}

/** Threads that one call names at most. */
export const idsMax = 1_000

/** Resolves with the number of threads, or for `cancel` of runs, that an act by filter affects. */
export async function bulkCount(act: BulkAct, filter: ThreadFilter,
  signal?: AbortSignal): Promise<number> {
  const path = act === 'delete' ? '/threads/prune' : '/runs/cancel'
  return (await post<{ count: number }>(path, { filter, dry_run: true }, signal)).count
}

/** Deletes at most a thousand threads that match. */
export async function pruneMatching(filter: ThreadFilter, signal: AbortSignal): Promise<BulkStep> {
  const { pruned_count: done, remaining } = await post<{ pruned_count: number; remaining: number }>(
    '/threads/prune',
    { filter },
    signal,
  )
  return { done, remaining }
}

/** Deletes threads by their ids, a thousand at most. */
export async function pruneChosen(ids: readonly string[], signal: AbortSignal): Promise<number> {
  return (await post<{ pruned_count: number }>('/threads/prune', { thread_ids: ids }, signal))
    .pruned_count
}

/** Cancels the runs of threads that match. */
export const cancelMatching = (filter: ThreadFilter, signal: AbortSignal) =>
  post<unknown>('/runs/cancel', { filter }, signal)

/** Cancels the runs of one thread that are under way or queued. Returns how many there were. */
export async function cancelRunsOf(threadId: string, signal: AbortSignal): Promise<number> {
  const runs = await ask<readonly Run[]>(
    `/threads/${threadId}/runs?limit=1000&select=run_id,status`,
    { signal },
  )
  const ids = runs.filter((run) => !isOver(run)).map(({ run_id: id }) => id)
  if (ids.length > 0) {
    await post('/runs/cancel', { thread_id: threadId, run_ids: ids }, signal)
  }
  return ids.length
}
