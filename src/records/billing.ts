/** What is billed: a record of each run that is over, kept when its thread is long gone. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { RunStatus } from './run-table.ts'

export interface BillingRow {
  readonly tenant: string
  /** On which the run ended, in UTC: `2026-11-20`. */
  readonly day: string
  readonly runId: string
  readonly threadId: string
  readonly assistantId: string
  readonly graphId: string
  readonly status: RunStatus
  /** Null where it never began. */
  readonly startedMs: number | null
  readonly endedMs: number
}

/** An id may come again: a run without a thread that is asked for by the same key a day later. */
export type BillingPlace = Pick<BillingRow, 'endedMs' | 'runId'>

/** Before all. */
export const firstPlace: BillingPlace = { endedMs: -1, runId: '' }

export interface BillingQuery extends Pick<BillingRow, 'tenant' | 'day'> {
  /** The place of the last one that was told. */
  readonly after: BillingPlace
  /** 1 to 1 000. */
  readonly limit: number
}

/** Rows come in by the log port, beside what ends the run. */
export interface BillingTable {
  /** In the order in which the runs ended. */
  page(query: BillingQuery): Promise<BillingRow[]>
}

/** Pure, so that a record that is made again is the same one. `run` is over. */
export function billingRow(run: RunRow): BillingRow {
  const { tenant, runId, threadId, assistantId, planJson, startedAtMs, updatedAtMs } = run
  const { graphId } = JSON.parse(planJson) as { readonly graphId: string }
  return {
    tenant, day: dayOf(updatedAtMs), runId, threadId, assistantId, graphId,
    status: run.status as RunStatus,
    startedMs: startedAtMs === 0 ? null : startedAtMs, endedMs: updatedAtMs,
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
