/** Rows of runs: by id, and in the order of their creation. */

import { LRUCache, readAhead } from '../../../../cluster/index.ts'
import { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import { isMeant } from '../../../search/index.ts'
import type { FoundRuns, RunPlace, RunQuery, RunSearchQuery,
  RunTable as RunTablePort } from '../../../search/index.ts'
import { PageBytes } from '../../page-bytes.ts'
import { withTexts } from '../../run-texts.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { RunTimes } from './run-times.ts'
import { bodyColumns } from './stored-body.ts'
import type { RowAddress, StoredBodies } from './stored-body.ts'

/** Key of a run, with its tenant and its thread. */
export interface RunKey {
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
}

/** Runs that are known to have their place in the order. */
const ordersKept = 20_000
/** Rows that are removed, or looked at for a status, at the same time. */
const atOnce = 64
/** Runs of a list that are read whole at the same time. Their chunks may be large. */
const wholeAtOnce = 4
/** Runs that a search looks at. The next one goes on behind them. */
const lookedAtMax = 5_000
/** Places in the order that are read at a time. */
const orderPage = 1_000

/** Stores and lists runs. Runs made in one millisecond are sorted by id, which grows with time. */
export class RunTable implements RunTablePort {
  readonly #connection: Connection
  readonly #bodies: StoredBodies
  readonly #rows: string
  readonly #orders: string
  readonly #times: RunTimes
  readonly #ordered = new LRUCache<string, true>({ max: ordersKept })

  constructor(connection: Connection, bodies: StoredBodies) {
    this.#connection = connection
    this.#bodies = bodies
    this.#rows = `${connection.keyspace}.run_row`
    this.#orders = `${connection.keyspace}.run_order`
    this.#times = new RunTimes(connection)
  }

  /** Stores a row. Newer calls need a higher `rank`. Repeating it changes nothing. */
  async put(
    { row, body = bytesOf(RunRow, row), rank, before }: { readonly row: RunRow;
      readonly body?: Uint8Array | undefined; readonly rank: bigint;
      readonly before?: Promise<unknown> },
  ): Promise<void> {
    const address = this.#address(row)
    const createdAt = BigInt(row.createdAtMs)
    await Promise.all([
      this.#order(row, rank),
      this.#bodies.put({
        address,
        body,
        columns: [['created_at', createdAt]],
        rank,
        before,
      }),
    ])
  }

  async remove(key: RunKey, rank: bigint): Promise<void> {
    const [row] = await this.#connection.read({
      cql: `SELECT created_at FROM ${this.#rows} ` +
        'WHERE tenant = ? AND thread_id = ? AND run_id = ?',
      values: [key.tenant, key.threadId, key.runId],
    })
    if (!row) return
    await this.#connection.write({
      cql: `DELETE FROM ${this.#orders} USING TIMESTAMP ? ` +
        'WHERE tenant = ? AND thread_id = ? AND created_at = ? AND run_id = ?',
      values: [rank, key.tenant, key.threadId, row['created_at'], key.runId],
    })
    await this.#times.remove(key.tenant, row['created_at'], key.runId, rank)
    await this.#removeRow(key, rank)
  }

  /** Removes the runs of a thread, if `rank` is above their timestamps. */
  async removeAll(tenant: string, threadId: string, rank: bigint): Promise<void> {
    const where = 'WHERE tenant = ? AND thread_id = ?'
    const values = [tenant, threadId]
    const runs = { cql: `SELECT run_id, created_at FROM ${this.#orders} ${where}`, values }
    let some = false
    for await (const page of this.#connection.pages(runs, orderPage)) {
      some ||= page.length > 0
      await forEachLimit(atOnce, page, async (each) => {
        const runId = each['run_id']
        await Promise.all([
          this.#times.remove(tenant, each['created_at'], runId, rank),
          this.#removeRow({ tenant, threadId, runId }, rank),
        ])
      })
    }
    if (!some) return
    await this.#connection.write({
      cql: `DELETE FROM ${this.#orders} USING TIMESTAMP ? ${where}`,
      values: [rank, ...values],
    })
  }

  /** Forgets places in the order, since other members may remove rows from now on. */
  forget(): void {
    this.#ordered.clear()
  }

  async get(tenant: string, threadId: string, runId: string): Promise<RunRow | undefined> {
    const key = { tenant, threadId, runId }
    return await this.#whole(key, await this.#row(key))
  }

  async list(query: RunQuery): Promise<RunRow[]> {
    const { tenant, threadId, status, limit, offset, texts } = query
    const order = {
      cql: `SELECT run_id FROM ${this.#orders} WHERE tenant = ? AND thread_id = ?`,
      values: [tenant, threadId],
    }
    const end = offset + limit
    const page = status === undefined ? Math.min(end, orderPage) : atOnce
    const bytes = new PageBytes(query.bytes)
    const found: RunRow[] = []
    let passed = 0
    let matching = 0
    for await (const rows of this.#connection.pages(order, page)) {
      const from = Math.max(0, offset - passed)
      const wanted = status === undefined ? rows.slice(from, from + limit - found.length) : rows
      passed += rows.length
      for await (const run of this.#all(tenant, threadId, wanted)) {
        if (status !== undefined && (run.status !== status || matching++ < offset)) continue
        found.push(withTexts(run, bytes, texts))
        if (found.length === limit) return found
      }
    }
    return found
  }

  async search(query: RunSearchQuery, cancelled?: AbortSignal): Promise<FoundRuns> {
    const { tenant, limit, texts, after } = query
    const bytes = new PageBytes(query.bytes)
    const rows: RunRow[] = []
    let next: RunPlace | undefined = after
    let lookedAt = 0
    for await (const page of this.#times.places(query)) {
      const keys = page.map(({ threadId, runId }) => ({ tenant, threadId, runId }))
      let at = 0
      for await (const run of this.#read(keys)) {
        cancelled?.throwIfAborted()
        if (rows.length === limit || lookedAt++ === lookedAtMax) return { rows, next }
        const { createdAtMs, runId } = page[at++]!
        next = { createdAtMs, runId }
        if (run && isMeant(query, run)) rows.push(withTexts(run, bytes, texts))
      }
    }
    return { rows, next: undefined }
  }

  /** Rows in the order of `ids`, without runs that were never written or are removed. */
  async *#all(tenant: string, threadId: string, ids: readonly Row[]): AsyncGenerator<RunRow> {
    const keys = ids.map((each) => ({ tenant, threadId, runId: each['run_id'] }))
    for await (const run of this.#read(keys)) if (run) yield run
  }

  /** The row of each key; undefined for a run that was never written or is removed. */
  #read(keys: readonly RunKey[]): AsyncIterable<RunRow | undefined> {
    const rows = readAhead(atOnce, keys, async (key) => ({ key, row: await this.#row(key) }))
    return readAhead(wholeAtOnce, rows, ({ key, row }) => this.#whole(key, row))
  }

  /** Removes a row. A run may be made again, as a stateless run has the id of its key. */
  async #removeRow(key: RunKey, rank: bigint): Promise<void> {
    await this.#bodies.remove(this.#address(key), rank)
    this.#ordered.delete(textOf(key))
  }

  async #whole(key: RunKey, row: Row | undefined): Promise<RunRow | undefined> {
    const body = row && await this.#bodies.read(this.#address(key), row, () => this.#row(key))
    return body && RunRow.decode(body)
  }

  /** Writes the place of a run once; again if it is not known whether it was written. */
  async #order(row: RunRow, rank: bigint): Promise<void> {
    const text = textOf(row)
    if (this.#ordered.get(text)) return
    await Promise.all([
      this.#times.put(row, rank),
      this.#connection.write({
        cql: `INSERT INTO ${this.#orders} (tenant, thread_id, created_at, run_id) ` +
          'VALUES (?, ?, ?, ?) USING TIMESTAMP ?',
        values: [row.tenant, row.threadId, BigInt(row.createdAtMs), row.runId, rank],
      }),
    ])
    this.#ordered.set(text, true)
  }

  async #row({ tenant, threadId, runId }: RunKey): Promise<Row | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT ${bodyColumns} FROM ${this.#rows} ` +
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

function textOf({ tenant, threadId, runId }: RunKey): string {
  return `${tenant}\n${threadId}\n${runId}`
}
