/** Bodies of rows that are rewritten: in the row if they are small, otherwise in chunks. */

import { ignoreNotFound } from '../../../errors.ts'
import type { Connection, Row, Statement, Value } from '../driver/connection.ts'
import { insertInto } from '../driver/insert.ts'
import { chunksOf } from '../log/chunk-table.ts'
import type { ChunkTable } from '../log/chunk-table.ts'

/**
 * A row of a table with the columns `body`, `chunks` and `chunk_rank`. If it has chunks and no
 * body, the chunks are the body. If it has a body, the chunks are of an earlier version.
 */
export interface RowAddress {
  readonly table: string
  readonly key: readonly (readonly [column: string, value: Value])[]
}

/** A body to write, with its row. */
export interface StoredBodyWrite {
  readonly address: RowAddress
  readonly body: Uint8Array
  /** Columns besides the body. */
  readonly columns?: readonly (readonly [column: string, value: Value])[]
  /** Statements of the same partition, which are written with the row or not at all. */
  readonly beside?: readonly Statement[]
  readonly rank: bigint
  /** Earlier versions in flight. A large body is written after them, so that it can remove them. */
  readonly before?: Promise<unknown> | undefined
}

/** Columns that a query must select. */
export const bodyColumns = 'body, chunks, chunk_rank'

/**
 * Writes and reads bodies. The chunks of a version are named with its timestamp, so an unfinished
 * version cannot harm another one. If this process dies while it rewrites a row, the chunks of that
 * version stay behind.
 */
export class StoredBodies {
  readonly #connection: Pick<Connection, 'read' | 'write' | 'batch'>
  readonly #chunks: ChunkTable

  constructor(connection: Pick<Connection, 'read' | 'write' | 'batch'>, chunks: ChunkTable) {
    this.#connection = connection
    this.#chunks = chunks
  }

  /** Writes a body. Repeating it changes nothing. */
  async put(
    { address, body, columns = [], beside = [], rank, before: earlier }: StoredBodyWrite,
  ): Promise<void> {
    const chunks = chunksOf(body)
    if (chunks > 0) await earlier
    const before = chunks === 0 ? undefined : await this.#chunked(address, rank)
    if (chunks > 0) await this.#chunks.write(chunkKey(address, rank), body, rank)
    // The reference to the chunks of an earlier version stays, so that who removes the row finds
    // them.
    const content: (readonly [string, Value])[] = chunks === 0
      ? [['body', body]]
      : [['body', new Uint8Array()], ['chunks', chunks], ['chunk_rank', rank]]
    const all = [...address.key, ...columns, ...content]
    const insert = {
      cql: `${insertInto(address.table, all.map(([name]) => name))} USING TIMESTAMP ?`,
      values: [...all.map(([, value]) => value), rank],
    }
    await (beside.length === 0
      ? this.#connection.write(insert)
      : this.#connection.batch([...beside, insert]))
    if (before) await this.#chunks.remove(before.key, before.chunks, rank)
  }

  /** Reads the body of `row`. `again` reads the row anew, in case it is rewritten meanwhile. */
  async read(address: RowAddress, row: Row,
    again: () => Promise<Row | undefined>): Promise<Uint8Array | undefined> {
    for (let found: Row | undefined = row; found; found = await again()) {
      const body = found['body']
      // Only one replica has the row. A read of other columns repaired only those elsewhere.
      if (body === null) return undefined
      const chunked = body.length === 0 ? chunkedIn(address, found) : undefined
      if (!chunked) return body
      const whole = await this.#chunks.read(chunked.key, chunked.chunks).catch(ignoreNotFound)
      if (whole) return whole
    }
    return undefined
  }

  /** Removes the row and its chunks, if `rank` is above their timestamps. */
  async remove(address: RowAddress, rank: bigint): Promise<void> {
    const chunked = await this.#chunked(address, rank)
    await this.#connection.write({
      cql: `DELETE FROM ${address.table} USING TIMESTAMP ? WHERE ${conditionOf(address)}`,
      values: [rank, ...valuesOf(address)],
    })
    if (chunked) await this.#chunks.remove(chunked.key, chunked.chunks, rank)
  }

  /** Removes the chunks of a row that somebody else removes. */
  async removeChunks(address: RowAddress, row: Row, rank: bigint): Promise<void> {
    const chunked = chunkedIn(address, row)
    if (chunked) await this.#chunks.remove(chunked.key, chunked.chunks, rank)
  }

  /** The chunks of an earlier version, if there are any. */
  async #chunked(address: RowAddress,
    rank: bigint): Promise<{ key: string; chunks: number } | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT chunks, chunk_rank FROM ${address.table} WHERE ${conditionOf(address)}`,
      values: valuesOf(address),
    })
    return row && row['chunk_rank'] !== rank ? chunkedIn(address, row) : undefined
  }
}

function conditionOf({ key }: RowAddress): string {
  return key.map(([column]) => `${column} = ?`).join(' AND ')
}

function valuesOf({ key }: RowAddress): Value[] {
  return key.map(([, value]) => value)
}

function chunkedIn(address: RowAddress, row: Row): { key: string; chunks: number } | undefined {
  const chunks = row['chunks'] ?? 0
  return chunks === 0
    ? undefined
    : { key: chunkKey(address, row['chunk_rank']), chunks }
}

function chunkKey({ table, key }: RowAddress, rank: bigint): string {
  const values = key.map(([, value]) => typeof value === 'bigint' ? String(value) : value)
  return JSON.stringify([table, ...values, String(rank)])
}
