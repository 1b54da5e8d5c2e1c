/** Rows of threads and of assistants, in the partitions of their shard: read when that is taken. */

import { actorKeyText, shardOf } from '../../../cluster/index.ts'
import type { Connection, Row } from './connection.ts'
import type { OwnedTable } from './owned-row.ts'
import type { ClusterSettings } from './setting-table.ts'
import { bodyColumns } from './stored-body.ts'
import type { RowAddress, StoredBodies } from './stored-body.ts'

/** Rows read at a time: as many as are decoded without keeping others waiting. */
const pageRows = 500

/** Newer calls need higher ranks. */
export class OwnedRowTable {
  readonly #connection: Connection
  readonly #bodies: StoredBodies
  readonly #settings: Pick<ClusterSettings, 'shards' | 'buckets'>
  readonly #kind: OwnedTable
  readonly #table: string
  readonly #id: string

  constructor({ connection, bodies, settings, kind }: { readonly connection: Connection
    readonly bodies: StoredBodies
    readonly settings: Pick<ClusterSettings, 'shards' | 'buckets'>
    readonly kind: OwnedTable }) {
    this.#connection = connection
    this.#bodies = bodies
    this.#settings = settings
    this.#kind = kind
    this.#table = `${connection.keyspace}.${kind}_row`
    this.#id = `${kind}_id`
  }

  /** Done again, it is the same. */
  async put({ tenant, id, body, rank }: { readonly tenant: string; readonly id: string
    readonly body: Uint8Array; readonly rank: bigint }): Promise<void> {
    await this.#bodies.put({ address: this.#address(tenant, id), body, rank })
  }

  async remove(tenant: string, id: string, rank: bigint): Promise<void> {
    await this.#bodies.remove(this.#address(tenant, id), rank)
  }

  /** Undefined where there is no such row. */
  async bodyOf(tenant: string, id: string): Promise<Uint8Array | undefined> {
    const address = this.#address(tenant, id)
    const row = await this.#row(address)
    return row && await this.#bodies.read(address, row, () => this.#row(address))
  }

  /** The shard that a row lies in. */
  shardOf(tenant: string, id: string): number {
    return shardOf(this.#keyText(tenant, id), this.#settings.shards)
  }

  /**
   * Bodies of all rows of a shard, some at a time. One query asks for all buckets: most are small,
   * and what a query costs beside its rows was most of the time that it takes to read a shard.
   */
  async *bodiesOf(shard: number): AsyncGenerator<Uint8Array[], void, void> {
    const buckets = Array.from({ length: this.#settings.buckets }, (_, bucket) => bucket)
    const cql = `SELECT tenant, ${this.#id}, ${bodyColumns} FROM ${this.#table} ` +
      `WHERE shard = ? AND bucket IN (${buckets.join(', ')})`
    for await (const rows of this.#connection.pages({ cql, values: [shard] }, pageRows)) {
      const bodies = await Promise.all(rows.map((row) => this.#bodyIn(row)))
      yield bodies.filter((body) => body !== undefined)
    }
  }

  #bodyIn(row: Row): Promise<Uint8Array | undefined> {
    const address = this.#address(row['tenant'] as string, row[this.#id] as string)
    return this.#bodies.read(address, row, () => this.#row(address))
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
      key: [['shard', shard], ['bucket', bucketOf(text, buckets)], ['tenant', tenant],
        [this.#id, id]] }
  }

  #keyText(tenant: string, id: string): string {
    return actorKeyText({ kind: this.#kind, tenant, id })
  }
}

/** Another text's hash: keys of one shard agree in what their own hash leaves over. */
function bucketOf(text: string, buckets: number): number {
  return shardOf(`${text}\nbucket`, buckets)
}
