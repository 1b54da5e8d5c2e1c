/** Does something to many threads, call by call, until nothing is left or somebody stops it. */

import { cancelMatching, cancelRunsOf, idsMax, pruneChosen, pruneMatching } from '../api/bulk.ts'
import type { BulkAct, BulkTarget } from '../api/bulk.ts'

/** Progress of an act. For `delete` threads are counted, for `cancel` runs. */
export interface BulkProgress {
  readonly done: number
  /** Number of threads left alone: busy ones, and those that were gone before. */
  readonly left: number
}

/** Tells of each step. Ends early when the signal is aborted. */
export async function* bulkWork(act: BulkAct, target: BulkTarget,
  signal: AbortSignal): AsyncGenerator<BulkProgress> {
  if (target.kind === 'chosen') {
    yield* act === 'delete' ? pruneIds(target.ids, signal) : cancelOf(target.ids, signal)
  } else if (act === 'delete') {
    let done = 0
    for (;;) {
      const step = await pruneMatching(target.filter, signal)
      done += step.done
      yield { done, left: step.remaining }
      // What is left without any progress cannot be deleted: a run began in the meantime.
      if (step.remaining === 0 || step.done === 0) return
    }
  } else {
    await cancelMatching(target.filter, signal)
    yield { done: Infinity, left: 0 }
  }
}

async function* pruneIds(ids: readonly string[], signal: AbortSignal) {
  let done = 0
  for (let at = 0; at < ids.length; at += idsMax) {
    const asked = ids.slice(at, at + idsMax)
    done += await pruneChosen(asked, signal)
    yield { done, left: at + asked.length - done }
  }
}

async function* cancelOf(ids: readonly string[], signal: AbortSignal) {
  let done = 0
  for (const id of ids) {
    done += await cancelRunsOf(id, signal)
    yield { done, left: 0 }
  }
}
