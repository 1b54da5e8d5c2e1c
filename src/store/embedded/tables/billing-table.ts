/** Billing rows, by the day on which runs ended. */

import type { BillingQuery, BillingRow } from '../../../billing/index.ts'
import type { RunStatus } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'

/** Table of billing rows. Days are UTC, times are milliseconds. */
export const billingSchema = `
  CREATE TABLE billing (
    tenant TEXT NOT NULL,
    day TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    assistant_id TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER,
    PRIMARY KEY (tenant, day, ended_at, run_id)
  ) WITHOUT ROWID;
`

type Columns = readonly [tenant: string, day: string, endedAt: number, runId: string,
  threadId: string, assistantId: string, graphId: string, status: string, startedAt: number | null]

/** Stores and pages through billing rows. Belongs to `Tables`. */
export class BillingTable {
  readonly #put: Statement<never>
  readonly #page: Statement<Columns>

  constructor(database: Database) {
    this.#put = database.prepare(
      'INSERT OR REPLACE INTO billing VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    )
    this.#page = database.prepare(`SELECT * FROM billing
      WHERE tenant = :tenant AND day = :day AND (ended_at, run_id) > (:endedMs, :runId)
      ORDER BY ended_at, run_id LIMIT :limit`)
  }

  /** Stores a row. Storing the same row again changes nothing. */
  put(row: BillingRow): void {
    const { tenant, day, runId, threadId, assistantId, graphId, status, startedMs, endedMs } = row
    this.#put.run(tenant, day, endedMs, runId, threadId, assistantId, graphId, status, startedMs)
  }

  page({ tenant, day, after, limit }: BillingQuery): BillingRow[] {
    const { endedMs, runId } = after
    return this.#page.all({ tenant, day, endedMs, runId, limit }).map(rowOf)
  }
}

function rowOf(columns: Columns): BillingRow {
  const [tenant, day, endedMs, runId, threadId, assistantId, graphId, status, startedMs] = columns
  return { tenant, day, runId, threadId, assistantId, graphId, status: status as RunStatus,
    startedMs, endedMs }
}
