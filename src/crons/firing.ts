/**
 * Consequence of the outcome of a firing: the cron goes on, tries again or stops. Pure.
 *
 * 1. The run comes first, the record after it. Its id is made from the due time, so a firing that
 *    is repeated after a failure is the same run.
 * 2. A due time is settled once: by its run, or by the reason why there is none, whatever the clock
 *    says then.
 */

import type { CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../checkpoint/index.ts'
import { nextAfter } from './cron.ts'

/**
 * Outcome of a firing. Any other failure is thrown, and the firing is repeated.
 *
 * fired    the run exists
 * skipped  the due time passes without a run, as nothing is to start now
 * gone     there is no thread or no assistant to fire for
 * refused  the run was not admitted; `mayPass` if it may be admitted later
 */
export type FiringOutcome =
  | { readonly kind: 'fired'; readonly runId: string }
  | { readonly kind: 'skipped' | 'gone'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly mayPass: boolean }

/** Time for which a due time that is refused is tried again, and the pauses between. */
const patienceMs = 10 * 60 * 1_000
const [shortestMs, longestMs] = [5_000, 2 * 60 * 1_000]

/** The record of an outcome. Each pause is as long as all before it together. */
export function settledRecord(row: CronRow, dueMs: number, outcome: FiringOutcome,
  nowMs: number): RecordOf {
  switch (outcome.kind) {
    case 'fired':
      return firedRecord(row, dueMs, { runId: outcome.runId, reason: '', atMs: nowMs })
    case 'skipped':
      return firedRecord(row, dueMs, { runId: '', reason: outcome.reason, atMs: nowMs })
    case 'gone':
      return { $case: 'cronStopped', value: { dueMs, atMs: nowMs, reason: outcome.reason } }
    case 'refused': {
      const { reason, mayPass } = outcome
      const sinceMs = row.refusedMs === dueMs ? Math.min(nowMs, row.refusedSinceMs) : nowMs
      const triedMs = nowMs - sinceMs
      if (!mayPass || triedMs >= patienceMs) {
        return firedRecord(row, dueMs, { runId: '', reason, atMs: nowMs })
      }
      const untilMs = nowMs + Math.min(longestMs, Math.max(shortestMs, triedMs))
      return { $case: 'cronPostponed', value: { dueMs, sinceMs, untilMs } }
    }
  }
}

function firedRecord(row: CronRow, dueMs: number,
  { runId, reason, atMs }: { readonly runId: string; readonly reason: string;
    readonly atMs: number }): RecordOf {
  return { $case: 'cronFired',
    value: { dueMs, atMs, nextMs: nextAfter(row, dueMs), runId, reason } }
}
