/** Billing records: one for each finished run, kept even after its thread is deleted. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { RunStatus } from '../search/index.ts'

export interface BillingRow {
  readonly tenant: string
  /** On which the run ended, in UTC: `2026-11-20`. */
  readonly day: string
  readonly runId: string
  readonly threadId: string
  readonly assistantId: string
  readonly graphId: string
  readonly status: RunStatus
  /** Null if it never began. */
  readonly startedMs: number | null
  readonly endedMs: number
}

/** Not the id alone: a stateless run with the same Idempotency-Key a day later has the same id. */
export type BillingPlace = Pick<BillingRow, 'endedMs' | 'runId'>

/** Before all records. */
export const firstPlace: BillingPlace = { endedMs: -1, runId: '' }

export interface BillingQuery extends Pick<BillingRow, 'tenant' | 'day'> {
  /** The place of the last record of the previous page. */
  readonly after: BillingPlace
  /** 1 to 1 000. */
  readonly limit: number
}

/** Rows are written by the log port, together with the end of the run. */
export interface BillingTable {
  /** In the order in which the runs ended. */
  page(query: BillingQuery): Promise<BillingRow[]>
}

/** Pure, so that a record that is made again is the same. `run` has ended. */
export function billingRow(run: RunRow): BillingRow {
  const { tenant, runId, threadId, assistantId, planJson, startedAtMs, updatedAtMs } = run
  const { graphId } = JSON.parse(planJson) as { readonly graphId: string }
  return {
    tenant,
    day: dayOf(updatedAtMs),
    runId,
    threadId,
    assistantId,
    graphId,
    status: run.status as RunStatus,
    startedMs: startedAtMs === 0 ? null : startedAtMs,
    endedMs: updatedAtMs,
  }
}

/** In UTC. */
function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** Whether it is a day of the calendar, as the records have it. */
export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  return !Number.isNaN(ms) && dayOf(ms) === text
}
