/** The order of a tenant's runs in the tables of earlier versions, in partitions of an hour. */

import { LRUCache } from '../../../../cluster/index.ts'
import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { RunPlace } from '../../../search/index.ts'
import type { Connection } from '../driver/connection.ts'
import type { PlacedRun, PlaceQuery } from './run-rows.ts'

const hourMs = 60 * 60 * 1_000
/** Hours of tenants that are known to be noted. */
const hoursKept = 2_000
/** Hours, and places of runs, that are read at a time. */
const pageRows = 500

/** Notes when runs were made. A place may outlive its run. Belongs to `FormerRuns`. */
export class RunTimes {
  readonly #connection: Connection
  readonly #times: string
  readonly #hours: string
  readonly #noted = new LRUCache<string, true>({ max: hoursKept })

  constructor(connection: Connection) {
    this.#connection = connection
    this.#times = `${connection.keyspace}.run_time`
    this.#hours = `${connection.keyspace}.run_hour`
  }

  /** Notes a run. Its hour is noted before this resolves. */
  async put({ tenant, createdAtMs, runId, threadId }: PlacedRun & Pick<RunRow, 'tenant'>,
    rank: bigint): Promise<void> {
    const hour = hourOf(createdAtMs)
    await Promise.all([
      this.#noteHour(tenant, hour, rank),
      this.#connection.write({
        cql: `INSERT INTO ${this.#times} (tenant, hour, created_at, run_id, thread_id) ` +
          'VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?',
        values: [tenant, hour, BigInt(createdAtMs), runId, threadId, rank],
      }),
    ])
  }

  /** Removes the place of a run. */
  async remove(tenant: string, { createdAtMs, runId }: RunPlace, rank: bigint): Promise<void> {
    await this.#connection.write({
      cql: `DELETE FROM ${this.#times} USING TIMESTAMP ? ` +
        'WHERE tenant = ? AND hour = ? AND created_at = ? AND run_id = ?',
      values: [rank, tenant, hourOf(createdAtMs), BigInt(createdAtMs), runId],
    })
  }

  /** Yields pages of the places of a tenant, the newest first. */
  async *places(
    { tenant, afterMs = -1, untilMs = Number.MAX_SAFE_INTEGER }: PlaceQuery,
  ): AsyncGenerator<readonly PlacedRun[], void, void> {
    const newest = Math.min(hourOf(untilMs), 2 ** 31 - 1)
    const hours = {
      cql: `SELECT hour FROM ${this.#hours} WHERE tenant = ? AND hour <= ?`,
      values: [tenant, newest],
    }
    for await (const rows of this.#connection.pages(hours, pageRows)) {
      for (const row of rows) {
        const hour = Number(row['hour'])
        if ((hour + 1) * hourMs <= afterMs) return
        const times = {
          cql: `SELECT created_at, run_id, thread_id FROM ${this.#times} ` +
            'WHERE tenant = ? AND hour = ? AND created_at > ? AND created_at <= ?',
          values: [tenant, hour, BigInt(afterMs), BigInt(untilMs)],
        }
        for await (const page of this.#connection.pages(times, pageRows)) {
          yield page.map((each) => ({ createdAtMs: Number(each['created_at']),
            runId: each['run_id'], threadId: each['thread_id'] })
          )
        }
      }
    }
  }

  /** An hour is never removed: there are few, and an empty one costs a read. */
  async #noteHour(tenant: string, hour: number, rank: bigint): Promise<void> {
    const key = `${hour}\n${tenant}`
    if (this.#noted.get(key)) return
    await this.#connection.write({
      cql: `INSERT INTO ${this.#hours} (tenant, hour) VALUES (?, ?) USING TIMESTAMP ?`,
      values: [tenant, hour, rank],
    })
    this.#noted.set(key, true)
  }
}

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs)
}
