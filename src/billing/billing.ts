/** Billing records: one for each finished run, kept even after its thread is deleted. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import { textAt, valueIn } from '../json/index.ts'
import type { RunStatus } from '../search/index.ts'

/** Billing record of one finished run. */
export interface BillingRow {
  readonly tenant: string
  /** Day on which the run ended, in UTC: `2026-11-20`. */
  readonly day: string
  readonly runId: string
  readonly threadId: string
  readonly assistantId: string
  readonly graphId: string
  readonly status: RunStatus
  /** Null if the run never began. */
  readonly startedMs: number | null
  readonly endedMs: number
}

/**
 * Place of a record. The id alone is not enough: a stateless run with the same Idempotency-Key a
 * day later has the same id.
 */
export type BillingPlace = Pick<BillingRow, 'endedMs' | 'runId'>

/** A place before all records. */
export const firstPlace: BillingPlace = { endedMs: -1, runId: '' }

/** A page of a tenant's records of one day. */
export interface BillingQuery extends Pick<BillingRow, 'tenant' | 'day'> {
  /** Place of the last record of the previous page. */
  readonly after: BillingPlace
  /** 1 to 1 000. */
  readonly limit: number
}

/** Reads billing records. The log port writes them, together with the end of the run. */
export interface BillingTable {
  /** Records in the order in which the runs ended. */
  page(query: BillingQuery): Promise<BillingRow[]>
}

/** The record of a run that has ended. Pure, so that a record that is made again is the same. */
export function billingRow(run: RunRow): BillingRow {
  const { tenant, runId, threadId, assistantId, planJson, startedAtMs, updatedAtMs } = run
  const graphId = textAt(valueIn(planJson), 'graphId') ?? ''
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

/** The day in UTC. */
function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** True for a day of the calendar, as the records have it. */
export function isDay(text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  return !Number.isNaN(ms) && dayOf(ms) === text
}
