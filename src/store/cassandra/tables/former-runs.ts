/**
 * Runs as versions before the table `run` stored them: a table of rows, one of their order on a
 * thread, and one of their order in a tenant. A keyspace that such a version made keeps what they
 * have. They are written until its upgrade is finished.
 */

import type { Connection, Row } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { placesAtOnce, removedAtOnce, timestampColumn } from './run-rows.ts'
import type { FoundRun, PlacedRun, PlaceQuery, RunKey, RunRows, RunWrite } from './run-rows.ts'
import { RunTimes } from './run-times.ts'
import { bodyColumns } from './stored-body.ts'
import type { RowAddress, StoredBodies } from './stored-body.ts'

/** Runs in `run_row`, `run_order`, and the tables of `RunTimes`. */
export class FormerRuns implements RunRows {
  readonly #connection: Connection
  readonly #bodies: StoredBodies
  readonly #rows: string
  readonly #orders: string
  readonly #times: RunTimes

  constructor(connection: Connection, bodies: StoredBodies) {
    this.#connection = connection
    this.#bodies = bodies
    this.#rows = `${connection.keyspace}.run_row`
    this.#orders = `${connection.keyspace}.run_order`
    this.#times = new RunTimes(connection)
  }

  async put({ row, body, rank, before, isPlaced }: RunWrite): Promise<void> {
    const { tenant, threadId, runId } = row
    const createdAt = BigInt(row.createdAtMs)
    await Promise.all([
      isPlaced ? undefined : this.#times.put(row, rank),
      isPlaced ? undefined : this.#connection.write({
        cql: `INSERT INTO ${this.#orders} (tenant, thread_id, created_at, run_id) ` +
          'VALUES (?, ?, ?, ?) USING TIMESTAMP ?',
        values: [tenant, threadId, createdAt, runId, rank],
      }),
      this.#bodies.put({
        address: this.#address(row),
        body,
        columns: [['created_at', createdAt]],
        rank,
        before,
      }),
    ])
  }

  async find(key: RunKey): Promise<FoundRun | undefined> {
    const again = () => this.#row(key)
    const row = await again()
    return row &&
      { createdAtMs: Number(row['created_at']), address: this.#address(key), row,
        rank: row['rank'] ?? 0n, again }
  }

  async *places(query: PlaceQuery): AsyncGenerator<readonly PlacedRun[], void, void> {
    const { tenant, threadId, afterMs = -1, untilMs = Number.MAX_SAFE_INTEGER, size } = query
    if (threadId === undefined) return yield* this.#times.places(query)
    const statement = {
      cql: `SELECT created_at, run_id FROM ${this.#orders} ` +
        'WHERE tenant = ? AND thread_id = ? AND created_at > ? AND created_at <= ?',
      values: [tenant, threadId, BigInt(afterMs), BigInt(untilMs)],
    }
    for await (const rows of this.#connection.pages(statement, size)) {
      yield rows.map((row) => placeIn(row, threadId))
    }
  }

  async remove(key: RunKey, { createdAtMs }: FoundRun, rank: bigint): Promise<void> {
    await this.#connection.write({
      cql: `DELETE FROM ${this.#orders} USING TIMESTAMP ? ` +
        'WHERE tenant = ? AND thread_id = ? AND created_at = ? AND run_id = ?',
      values: [rank, key.tenant, key.threadId, BigInt(createdAtMs), key.runId],
    })
    await this.#times.remove(key.tenant, { createdAtMs, runId: key.runId }, rank)
    // The row goes last: as long as it is there, an interrupted removal is done again.
    await this.#bodies.remove(this.#address(key), rank)
  }

  async removeAll(tenant: string, threadId: string, rank: bigint,
    each: (runId: string) => void): Promise<void> {
    let some = false
    for await (const page of this.places({ tenant, threadId, size: placesAtOnce })) {
      some ||= page.length > 0
      await forEachLimit(removedAtOnce, page, async (place) => {
        const address = this.#address({ tenant, threadId, runId: place.runId })
        each(place.runId)
        await Promise.all([this.#times.remove(tenant, place, rank),
          this.#bodies.remove(address, rank)])
      })
    }
    if (!some) return
    await this.#connection.write({
      cql: `DELETE FROM ${this.#orders} USING TIMESTAMP ? WHERE tenant = ? AND thread_id = ?`,
      values: [rank, tenant, threadId],
    })
  }

  async #row({ tenant, threadId, runId }: RunKey): Promise<Row | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT created_at, ${bodyColumns}, ${timestampColumn} FROM ${this.#rows} ` +
        'WHERE tenant = ? AND thread_id = ? AND run_id = ?',
      values: [tenant, threadId, runId],
    })
    return row
  }

  #address({ tenant, threadId, runId }: RunKey): RowAddress {
    return { table: this.#rows,
      key: [['tenant', tenant], ['thread_id', threadId], ['run_id', runId]] }
  }
}

function placeIn(row: Row, threadId: string): PlacedRun {
  return { createdAtMs: Number(row['created_at']), runId: row['run_id'], threadId }
}
