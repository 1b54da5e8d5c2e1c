/** Order of the runs, and the effect of a new one on those before it. Pure decisions. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { ThreadLimits } from '../context/thread-context.ts'
import type { MultitaskStrategy } from '../model/thread-client.ts'

type QueueLimits = Pick<ThreadLimits, 'pendingRuns' | 'pendingCharacters'>

/**
 * reject     refuse the new run while another is unfinished
 * enqueue    wait behind the others
 * interrupt  end the unfinished runs, keep what they finished, then run
 * rollback   end and delete the unfinished runs and all they wrote, then run
 */
export type Admission =
  | { readonly kind: 'enqueue' }
  | { readonly kind: 'interrupt' | 'rollback'; readonly runs: readonly RunRow[] }

/** Throws `rejected` or `full`. `runs` are the unfinished ones, oldest first. */
export function admit(runs: readonly RunRow[], strategy: MultitaskStrategy,
  limits: QueueLimits): Admission {
  if (runs.length === 0) return { kind: 'enqueue' }
  switch (strategy) {
    case 'reject':
      throw new HeddleError('rejected')
    case 'interrupt':
    case 'rollback':
      return { kind: strategy, runs }
    case 'enqueue': {
      const pending = runs.filter(({ status }) => status === 'pending')
      const isFull = pending.length >= limits.pendingRuns
        || charactersOf(pending) >= limits.pendingCharacters
      if (!isFull) return { kind: 'enqueue' }
      throw new HeddleError('full',
        `${pending.length} runs wait on this thread already; try again when some are done.`)
    }
  }
}

/** Characters that the inputs of runs take in memory. */
export function charactersOf(runs: readonly RunRow[]): number {
  return runs.reduce((sum, { kwargsJson }) => sum + kwargsJson.length, 0)
}

/**
 * start  this run may start now, as that attempt
 * wait   the next one may start at `atMs`
 * none   nothing to start: the queue is empty, or a run is executed
 */
export type NextRun =
  | { readonly kind: 'start'; readonly run: RunRow; readonly attempt: number }
  | { readonly kind: 'wait'; readonly atMs: number }
  | { readonly kind: 'none' }

/** Longest wait before looking again: timers stand still while a machine sleeps. */
export const lookAgainMs = 60_000

/** Wait beyond which a thread sleeps if all its runs are due later and no client needs it. */
export const dozeMs = 1_000

/**
 * Pause of runs where the store failed under them: meanwhile their thread can be read, which ends
 * with the next write that fails.
 */
export const storeFailedMs = 2_000

/**
 * A run that is running, but not executed, had to wait for the store: it continues its attempt.
 * Then comes a run that was handed back, then the oldest whose time has come.
 */
export function nextRun(runs: readonly RunRow[], nowMs: number, executing: boolean): NextRun {
  if (executing) return { kind: 'none' }
  const running = runs.find(({ status }) => status === 'running')
  if (running) return { kind: 'start', run: running, attempt: running.attempt }
  const due = runs.find(({ started }) => started)
    ?? runs.find(({ notBeforeMs }) => notBeforeMs <= nowMs)
  if (due) return { kind: 'start', run: due, attempt: attemptOf(due) }
  if (runs.length === 0) return { kind: 'none' }
  return { kind: 'wait', atMs: Math.min(...runs.map(({ notBeforeMs }) => notBeforeMs)) }
}

/**
 * The attempt that a start makes. A run that was handed back continues its attempt; one whose
 * worker or owner died begins the next.
 */
export function attemptOf(run: RunRow): number {
  return run.started && run.status === 'pending' ? run.attempt : run.attempt + 1
}

/** Attempts a run has before it ends in `error`. */
export const attemptsMax = 3
