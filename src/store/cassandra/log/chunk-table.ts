/** Chunks of large bodies. They are named for their row, written before it and removed with it. */

import { HeddleError } from '../../../errors.ts'
import type { Connection } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'

/** Bytes up to which a body stays in its row. */
const inRowBytes = 256 * 1024
/** Bytes of each chunk but the last. */
export const chunkBytes = 512 * 1024
/** Chunks of one body that are in flight at the same time. */
const partsAtOnce = 4

/** Number of chunks of a body; 0 if it stays in its row. */
export function chunksOf(body: Uint8Array): number {
  return body.byteLength <= inRowBytes ? 0 : Math.ceil(body.byteLength / chunkBytes)
}

/**
 * Writes and reads chunks. Each is a partition of its own, so that no partition grows with its
 * body.
 */
export class ChunkTable {
  readonly #connection: Connection
  readonly #insert: string
  readonly #select: string
  readonly #delete: string

  constructor(connection: Connection) {
    const table = `${connection.keyspace}.log_chunk`
    const part = 'WHERE row_key = ? AND part = ?'
    this.#connection = connection
    this.#insert = `INSERT INTO ${table} (row_key, part, data) VALUES (?, ?, ?) USING TIMESTAMP ?`
    this.#select = `SELECT data FROM ${table} ${part}`
    this.#delete = `DELETE FROM ${table} USING TIMESTAMP ? ${part}`
  }

  /**
   * Writes `chunksOf(body)` chunks, which stay for ever unless a time to live is given. Throws as
   * Connection.write does. Some may be written then.
   */
  async write(key: string, body: Uint8Array, timestamp: bigint, timeToLiveS = 0): Promise<void> {
    await forEachLimit(partsAtOnce, Array(chunksOf(body)).keys(), async (part) => {
      const data = body.subarray(part * chunkBytes, (part + 1) * chunkBytes)
      const values = [key, part, data, timestamp]
      await this.#connection.write(timeToLiveS === 0
        ? { cql: this.#insert, values }
        : { cql: `${this.#insert} AND TTL ?`, values: [...values, timeToLiveS] })
    })
  }

  /** Reads a body. Throws `not_found` if a chunk is missing: its row was deleted meanwhile. */
  async read(key: string, chunks: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    await forEachLimit(partsAtOnce, Array(chunks).keys(), async (part) => {
      const [row] = await this.#connection.read({ cql: this.#select, values: [key, part] })
      if (!row?.data) throw new HeddleError('not_found', 'The row was deleted meanwhile.')
      parts[part] = row.data
    })
    return Buffer.concat(parts)
  }

  async remove(key: string, chunks: number, timestamp: bigint): Promise<void> {
    await forEachLimit(partsAtOnce, Array(chunks).keys(),
      (part) => this.#connection.write({ cql: this.#delete, values: [timestamp, key, part] }))
  }
}
