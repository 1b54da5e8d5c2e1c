/**
 * Runs in the table `run`: the runs of a thread, by id and in the order of their creation, in one
 * partition, so that the row of a new run and its place in the order are one write.
 *
 * The partition has two rows for each run:
 *
 *     created_at   run_id
 *     1 700 000    b        place of a run, the newest first; written once
 *     1 600 000    a
 *     -1           b        row of a run, found by its id alone; rewritten at each change
 *     -1           a
 *
 * The order does not follow from the ids: a client may choose them, and the clock that made an id
 * is not that of the owner, which says when the run was created.
 *
 * The places are indexed by tenant and by time, which costs no write: Cassandra keeps such an index
 * (SAI) beside the rows of each node. A search of a tenant asks all nodes, so it is for people, who
 * search seldom; everything else names its thread.
 *
 * Only runs that the first rows of a log created have their rows in that partition. The rows of
 * later ones are apart, each in a partition of its own, so that the partition of a thread with a
 * million runs does not grow by their bodies. Such a run takes one write more, for its place.
 */

import type { Env } from '../../../../cluster/index.ts'
import { assert } from '../../../errors.ts'
import type { Connection, Row, Statement } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { inWindows } from './place-windows.ts'
import { placesAtOnce, removedAtOnce, timestampColumn } from './run-rows.ts'
import type { FoundRun, PlacedRun, PlaceQuery, RunKey, RunRows, RunWrite } from './run-rows.ts'
import { bodyColumns } from './stored-body.ts'
import type { RowAddress, StoredBodies } from './stored-body.ts'

/**
 * Rows of the log whose runs lie together. A body in its row has up to 256 KiB and some 2 KiB
 * mostly, so that the partition has some megabytes.
 */
const togetherSeq = 1_000

/** Stands for a time in the rows of runs. */
const noTime = -1n

/** Name of the partition that has the places. The others have the names of their runs. */
const together = ''

const placeColumns = 'thread_id, created_at, run_id, apart'
const ofPartition = 'tenant = ? AND thread_id = ? AND part = ?'

/** Runs in one table. */
export class ThreadRuns implements RunRows {
  readonly #connection: Connection
  readonly #bodies: StoredBodies
  readonly #env: Pick<Env, 'nowMs'>
  readonly #table: string

  constructor(connection: Connection, bodies: StoredBodies, env: Pick<Env, 'nowMs'>) {
    this.#connection = connection
    this.#bodies = bodies
    this.#env = env
    this.#table = `${connection.keyspace}.run`
  }

  async put({ row, body, rank, before, isPlaced, over }: RunWrite): Promise<void> {
    const apart = row.createdSeq > togetherSeq
    assert(over === undefined || !apart, 'the first row of a log created the run')
    const emptied = over === undefined ? [] : [this.#emptying(row.tenant, row.threadId, over)]
    const place = [...emptied, ...isPlaced ? [] : [this.#placing(row, apart, rank)]]
    const columns = [['made_at', BigInt(row.createdAtMs)]] as const
    const write = { address: this.#address(row, apart), body, columns, rank, before }
    if (!apart) return this.#bodies.put({ ...write, beside: place })
    await Promise.all([this.#bodies.put(write),
      ...place.map((each) => this.#connection.write(each))])
  }

  async find(key: RunKey, apart?: boolean): Promise<FoundRun | undefined> {
    if (apart !== undefined) return this.#find(this.#address(key, apart))
    return await this.#find(this.#address(key, false)) ?? this.#find(this.#address(key, true))
  }

  async *places(
    { tenant, threadId, afterMs = -1, untilMs = Number.MAX_SAFE_INTEGER, size }: PlaceQuery,
  ): AsyncGenerator<readonly PlacedRun[], void, void> {
    // Below it are the rows of runs.
    const from = Math.max(-1, afterMs)
    if (threadId === undefined) {
      return yield* inWindows({ read: (...window) => this.#ofTenant(tenant, ...window),
        nowMs: this.#env.nowMs(), fromMs: from, untilMs, size })
    }
    const statement = {
      cql: `SELECT ${placeColumns} FROM ${this.#table} ` +
        `WHERE ${ofPartition} AND created_at > ? AND created_at <= ?`,
      values: [tenant, threadId, together, BigInt(from), BigInt(untilMs)],
    }
    for await (const rows of this.#connection.pages(statement, size)) yield rows.map(placeIn)
  }

  async remove(key: RunKey, { createdAtMs, address }: FoundRun, rank: bigint): Promise<void> {
    await this.#connection.write({
      cql: `DELETE FROM ${this.#table} USING TIMESTAMP ? ` +
        `WHERE ${ofPartition} AND created_at = ? AND run_id = ?`,
      values: [rank, key.tenant, key.threadId, together, BigInt(createdAtMs), key.runId],
    })
    await this.#bodies.remove(address, rank)
  }

  /** One tombstone removes what lies together. */
  async removeAll(tenant: string, threadId: string, rank: bigint,
    each: (runId: string) => void): Promise<void> {
    const values = [tenant, threadId, together]
    const all = {
      cql: `SELECT created_at, run_id, apart, chunks, chunk_rank FROM ${this.#table} ` +
        `WHERE ${ofPartition}`,
      values,
    }
    let some = false
    for await (const page of this.#connection.pages(all, placesAtOnce)) {
      some ||= page.length > 0
      await forEachLimit(removedAtOnce, page, async (row) => {
        const key = { tenant, threadId, runId: row['run_id'] }
        if (row['created_at'] === noTime) {
          return this.#bodies.removeChunks(this.#address(key, false), row, rank)
        }
        each(key.runId)
        if (row['apart']) await this.#bodies.remove(this.#address(key, true), rank)
      })
    }
    if (!some) return
    await this.#connection.write(this.#emptying(tenant, threadId, rank))
  }

  /** Removes all that lies together, whether anything does or not. */
  #emptying(tenant: string, threadId: string, rank: bigint): Statement {
    return {
      cql: `DELETE FROM ${this.#table} USING TIMESTAMP ? WHERE ${ofPartition}`,
      values: [rank, tenant, threadId, together],
    }
  }

  /** Places of a window of time, in no order; those after the first `most` may be left out. */
  async #ofTenant(tenant: string, fromMs: number, untilMs: number,
    most: number): Promise<PlacedRun[]> {
    const statement = {
      cql: `SELECT ${placeColumns} FROM ${this.#table} ` +
        'WHERE tenant = ? AND created_at > ? AND created_at <= ?',
      values: [tenant, BigInt(fromMs), BigInt(untilMs)],
    }
    const places: PlacedRun[] = []
    for await (const rows of this.#connection.pages(statement, Math.min(most, placesAtOnce))) {
      places.push(...rows.map(placeIn))
      if (places.length >= most) break
    }
    return places
  }

  async #find(address: RowAddress): Promise<FoundRun | undefined> {
    const again = () => this.#row(address)
    const row = await again()
    return row &&
      { createdAtMs: Number(row['made_at']), address, row, rank: row['rank'] ?? 0n, again }
  }

  async #row({ key }: RowAddress): Promise<Row | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT made_at, ${bodyColumns}, ${timestampColumn} FROM ${this.#table} ` +
        `WHERE ${ofPartition} AND created_at = ? AND run_id = ?`,
      values: key.map(([, value]) => value),
    })
    return row
  }

  #placing({ tenant, threadId, runId, createdAtMs }: RunWrite['row'], apart: boolean,
    rank: bigint): Statement {
    return {
      cql: `INSERT INTO ${this.#table} (tenant, thread_id, part, created_at, run_id, apart) ` +
        'VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ?',
      values: [tenant, threadId, together, BigInt(createdAtMs), runId, apart, rank],
    }
  }

  #address({ tenant, threadId, runId }: RunKey, apart: boolean): RowAddress {
    return { table: this.#table,
      key: [['tenant', tenant], ['thread_id', threadId], ['part', apart ? runId : together], [
        'created_at',
        noTime,
      ], ['run_id', runId]] }
  }
}

function placeIn(row: Row): PlacedRun {
  return { createdAtMs: Number(row['created_at']), runId: row['run_id'], threadId: row['thread_id'],
    apart: row['apart'] === true }
}
