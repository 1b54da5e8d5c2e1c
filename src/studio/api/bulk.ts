/** Acts on many threads at once: by their ids, or by a filter. */

import { ask, askSelected } from './ask.ts'
import { isOver } from './runs.ts'
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
  const parts = { body: { filter, dry_run: true }, signal }
  const { count = 0 } = act === 'delete'
    ? await ask('POST /threads/prune', parts)
    : await ask('POST /runs/cancel', parts)
  return count
}

/** Deletes at most a thousand threads that match. */
export async function pruneMatching(filter: ThreadFilter, signal: AbortSignal): Promise<BulkStep> {
  const { pruned_count: done = 0, remaining = 0 } = await ask('POST /threads/prune', {
    body: { filter },
    signal,
  })
  return { done, remaining }
}

/** Deletes threads by their ids, a thousand at most. */
export async function pruneChosen(ids: readonly string[], signal: AbortSignal): Promise<number> {
  const { pruned_count: done = 0 } = await ask('POST /threads/prune', { body: { thread_ids: ids },
    signal })
  return done
}

/** Cancels the runs of threads that match. */
export const cancelMatching = (filter: ThreadFilter, signal: AbortSignal) =>
  ask('POST /runs/cancel', { body: { filter }, signal })

/** Cancels the runs of one thread that are under way or queued. Returns how many there were. */
export async function cancelRunsOf(threadId: string, signal: AbortSignal): Promise<number> {
  const { data: runs } = await askSelected('GET /threads/:thread_id/runs', ['run_id', 'status'], {
    params: { thread_id: threadId },
    query: { limit: 1_000 },
    signal,
  })
  const ids = runs.filter((run) => !isOver(run)).map(({ run_id: id }) => id)
  if (ids.length > 0) {
    await ask('POST /runs/cancel', { body: { thread_id: threadId, run_ids: ids }, signal })
  }
  return ids.length
}
