/** Billing rows: a partition for each tenant and day. */

import type { BillingQuery, BillingRow,
  BillingTable as BillingTablePort } from '../../../billing/index.ts'
import type { RunStatus } from '../../../search/index.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { insertInto } from '../driver/insert.ts'

const columns = ['tenant', 'day', 'run_id', 'thread_id', 'assistant_id', 'graph_id', 'status',
  'started_at', 'ended_at'] as const

/** Stores and pages through billing rows. */
export class BillingTable implements BillingTablePort {
  readonly #connection: Connection
  readonly #table: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#table = `${connection.keyspace}.billing`
  }

  /** Stores a row. Repeating it changes nothing. */
  async put(row: BillingRow, rank: bigint): Promise<void> {
    const { tenant, day, runId, threadId, assistantId, graphId, status, startedMs, endedMs } = row
    await this.#connection.write({
      cql: `${insertInto(this.#table, columns)} USING TIMESTAMP ?`,
      values: [tenant, day, runId, threadId, assistantId, graphId, status,
        startedMs === null ? null : BigInt(startedMs), BigInt(endedMs), rank],
    })
  }

  async page({ tenant, day, after, limit }: BillingQuery): Promise<BillingRow[]> {
    const rows = await this.#connection.read({
      cql: `SELECT ${columns.join(', ')} FROM ${this.#table} ` +
        'WHERE tenant = ? AND day = ? AND (ended_at, run_id) > (?, ?) LIMIT ?',
      values: [tenant, day, BigInt(after.endedMs), after.runId, limit],
    })
    return rows.map(rowOf)
  }
}

function rowOf(row: Row): BillingRow {
  return {
    tenant: row.tenant,
    day: row.day,
    runId: row.run_id,
    threadId: row.thread_id,
    assistantId: row.assistant_id,
    graphId: row.graph_id,
    status: row.status as RunStatus,
    startedMs: row.started_at === null ? null : Number(row.started_at),
    endedMs: Number(row.ended_at),
  }
}
