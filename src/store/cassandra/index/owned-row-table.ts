/** Rows of threads, assistants and crons, in partitions of their shard, read with the shard. */

import { actorKeyText, limitConcurrency, shardOf } from '../../../../cluster/index.ts'
import type { UnfinishedThread } from '../../../search/index.ts'
import type { ClusterSettings } from '../cluster/setting-table.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { bodyColumns } from '../tables/stored-body.ts'
import type { RowAddress, StoredBodies } from '../tables/stored-body.ts'
import type { OwnedTable } from './owned-row.ts'

/**
 * Rows that are read at a time, at first and at most: few enough to decode without blocking others.
 */
const [fewRows, pageRows] = [50, 500]
/** Bytes of a page to aim at. A row may have 256 KiB, and the page must arrive in time. */
const pageBytes = 4 * 1024 * 1024
/** Bodies that are read at a time, of those too large to be in their rows. */
const wholeAtOnce = 8

/** Stores the rows of one table. Newer calls must have a higher `rank`. */
export class OwnedRowTable {
  readonly #connection: Connection
  readonly #bodies: StoredBodies
  readonly #settings: Pick<ClusterSettings, 'shards' | 'buckets'>
  readonly #kind: OwnedTable
  readonly #table: string
  readonly #id: `${OwnedTable}_id`
  readonly #toReadWhole = limitConcurrency(wholeAtOnce)
  /** Adapts to the rows read before, as shards have similar rows. */
  #rowsAtOnce = fewRows

  constructor(
    { connection, bodies, settings, kind }: { readonly connection: Connection;
      readonly bodies: StoredBodies; readonly settings: Pick<ClusterSettings, 'shards' | 'buckets'>;
      readonly kind: OwnedTable },
  ) {
    this.#connection = connection
    this.#bodies = bodies
    this.#settings = settings
    this.#kind = kind
    this.#table = `${connection.keyspace}.${kind}_row`
    this.#id = `${kind}_id`
  }

  /**
   * Stores a row. Repeating it changes nothing. Removes the mark that a member of an earlier
   * version may have left on the row of a thread.
   */
  async put(
    { tenant, id, body, rank }: { readonly tenant: string; readonly id: string;
      readonly body: Uint8Array; readonly rank: bigint },
  ): Promise<void> {
    const columns = this.#kind === 'thread' ? [['unsettled', false]] as const : []
    await this.#bodies.put({ address: this.#address(tenant, id), body, rank, columns })
  }

  async remove(tenant: string, id: string, rank: bigint): Promise<void> {
    await this.#bodies.remove(this.#address(tenant, id), rank)
  }

  /** The encoded row; undefined if there is none. */
  async bodyOf(tenant: string, id: string): Promise<Uint8Array | undefined> {
    const address = this.#address(tenant, id)
    const row = await this.#row(address)
    return row && await this.#bodies.read(address, row, () => this.#row(address))
  }

  /** The shard of a row. */
  shardOf(tenant: string, id: string): number {
    return shardOf(this.#keyText(tenant, id), this.#settings.shards)
  }

  /**
   * The bodies of all rows of a shard, some at a time. One query asks for all buckets: most are
   * small, and the fixed cost of a query was most of the time that reading a shard took. `marked`
   * is called for each thread that a member of an earlier version marked, because its row may lag
   * behind its log.
   */
  async *bodiesOf(shard: number,
    marked: (thread: UnfinishedThread) => void = () => {}): AsyncGenerator<Uint8Array[], void,
    void> {
    const buckets = Array.from({ length: this.#settings.buckets }, (_, bucket) => bucket)
    const mark = this.#kind === 'thread' ? ', unsettled' : ''
    const cql = `SELECT tenant, ${this.#id}, ${bodyColumns}${mark} FROM ${this.#table} ` +
      `WHERE shard = ? AND bucket IN (${buckets.join(', ')})`
    const statement = { cql, values: [shard] }
    try {
      for await (const rows of this.#connection.pages(statement, () => this.#rowsAtOnce)) {
        this.#weigh(rows)
        const bodies = await Promise.all(rows.map((row) => this.#bodyIn(row)))
        for (const [i, row] of rows.entries()) {
          if (row['unsettled'] !== true || bodies[i] === undefined) continue
          marked({ tenant: row['tenant'], threadId: row['thread_id'] })
        }
        yield bodies.filter((body) => body !== undefined)
      }
    } catch (error) {
      // Perhaps the page was too large to arrive in time, so the next attempt asks for less.
      this.#rowsAtOnce = Math.ceil(this.#rowsAtOnce / 4)
      throw error
    }
  }

  #weigh(rows: readonly Row[]): void {
    const bytes = rows.reduce((sum, row) => sum + (row['body']?.length ?? 0), 0)
    const fitting = Math.floor(pageBytes * rows.length / Math.max(bytes, 1))
    if (rows.length > 0) this.#rowsAtOnce = Math.min(pageRows, Math.max(1, fitting))
  }

  #bodyIn(row: Row): Promise<Uint8Array | undefined> {
    const address = this.#address(row['tenant'], row[this.#id])
    const read = () => this.#bodies.read(address, row, () => this.#row(address))
    return row['chunks'] == null ? read() : this.#toReadWhole(read)
  }

  async #row({ key }: RowAddress): Promise<Row | undefined> {
    const condition = key.map(([column]) => `${column} = ?`).join(' AND ')
    const [row] = await this.#connection.read({
      cql: `SELECT ${bodyColumns} FROM ${this.#table} WHERE ${condition}`,
      values: key.map(([, value]) => value),
    })
    return row
  }

  #address(tenant: string, id: string): RowAddress {
    const text = this.#keyText(tenant, id)
    const { shards, buckets } = this.#settings
    const shard = shardOf(text, shards)
    return { table: this.#table,
      key: [['shard', shard], ['bucket', bucketOf(text, buckets)], ['tenant', tenant], [this.#id,
        id]] }
  }

  #keyText(tenant: string, id: string): string {
    return actorKeyText({ kind: this.#kind, tenant, id })
  }
}

/**
 * Bucket of a key, from the hash of another text: keys of one shard agree in what their own hash
 * leaves over.
 */
function bucketOf(text: string, buckets: number): number {
  return shardOf(`${text}\nbucket`, buckets)
}
