/** The runs of a tenant in the order of their creation, in partitions of an hour. */

import { LRUCache } from '../../../../cluster/index.ts'
import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { RunPlace, RunSearchQuery } from '../../../search/index.ts'
import type { Connection, Row } from '../driver/connection.ts'

const hourMs = 60 * 60 * 1_000
/** Hours of tenants that are known to be noted. */
const hoursKept = 2_000
/** Hours, and places of runs, that are read at a time. */
const pageRows = 500

/** Place of a run in the order of creation, and the thread that it is on. */
export interface PlacedRun extends RunPlace {
  readonly threadId: string
}

/** Notes when runs were made. A place may outlive its run. Belongs to `RunTable`. */
export class RunTimes {
  readonly #connection: Connection
  readonly #times: string
  readonly #hours: string
  readonly #orders: string
  readonly #noted = new LRUCache<string, true>({ max: hoursKept })

  constructor(connection: Connection) {
    this.#connection = connection
    this.#times = `${connection.keyspace}.run_time`
    this.#hours = `${connection.keyspace}.run_hour`
    this.#orders = `${connection.keyspace}.run_order`
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
  async remove(tenant: string, createdAt: bigint, runId: string, rank: bigint): Promise<void> {
    await this.#connection.write({
      cql: `DELETE FROM ${this.#times} USING TIMESTAMP ? ` +
        'WHERE tenant = ? AND hour = ? AND created_at = ? AND run_id = ?',
      values: [rank, tenant, hourOf(Number(createdAt)), createdAt, runId],
    })
  }

  /** Yields pages of places that a query may mean, the newest first. */
  async *places(query: RunSearchQuery): AsyncGenerator<readonly PlacedRun[], void, void> {
    const { tenant, threadId, createdAfterMs = -1 } = query
    const [beforeMs, beforeId] = startOf(query)
    const since = (page: readonly Row[]) =>
      page.map(placeIn).filter(({ createdAtMs }) => createdAtMs > createdAfterMs)
    if (threadId !== undefined) {
      const ofThread = {
        cql: `SELECT created_at, run_id, thread_id FROM ${this.#orders} ` +
          'WHERE tenant = ? AND thread_id = ? AND (created_at, run_id) < (?, ?)',
        values: [tenant, threadId, BigInt(beforeMs), beforeId],
      }
      for await (const page of this.#connection.pages(ofThread, pageRows)) yield since(page)
      return
    }
    const newest = Math.min(hourOf(beforeMs), 2 ** 31 - 1)
    const hours = {
      cql: `SELECT hour FROM ${this.#hours} WHERE tenant = ? AND hour <= ?`,
      values: [tenant, newest],
    }
    for await (const rows of this.#connection.pages(hours, pageRows)) {
      for (const row of rows) {
        const hour = Number(row['hour'])
        if ((hour + 1) * hourMs <= createdAfterMs) return
        const times = {
          cql: `SELECT created_at, run_id, thread_id FROM ${this.#times} ` +
            'WHERE tenant = ? AND hour = ? AND (created_at, run_id) < (?, ?)',
          values: [tenant, hour, BigInt(beforeMs), beforeId],
        }
        for await (const page of this.#connection.pages(times, pageRows)) yield since(page)
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

/** The place before which runs are sought. An empty id is before all of that time. */
function startOf(
  { after, createdBeforeMs = Number.MAX_SAFE_INTEGER }: RunSearchQuery,
): [beforeMs: number, beforeId: string] {
  return after && after.createdAtMs < createdBeforeMs
    ? [after.createdAtMs, after.runId]
    : [createdBeforeMs, '']
}

function placeIn(row: Row): PlacedRun {
  return { createdAtMs: Number(row['created_at']), runId: row['run_id'],
    threadId: row['thread_id'] }
}

function hourOf(ms: number): number {
  return Math.floor(ms / hourMs)
}
