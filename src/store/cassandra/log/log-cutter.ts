/** Removes the end of a log: rows that no branch needs any more. */

import { HeddleError } from '../../../errors.ts'
import type { Connection, Value } from '../driver/connection.ts'
import type { ChunkTable } from './chunk-table.ts'
import { rangeAt } from './epoch-range.ts'
import type { EpochRange } from './epoch-range.ts'
import { chunkKey } from './log-reader.ts'
import type { LogReader } from './log-reader.ts'
import type { WriteTimestamp } from './write-timestamp.ts'

/** Removable part of a branch: rows after `after`; all rows if it is 0. */
export interface LogCut {
  readonly branchId: string
  readonly after: number
  /** The epoch of the owner that removes them. */
  readonly epoch: number
}

/** A condition for rows of a partition. */
interface Range {
  readonly where: string
  readonly values: readonly Value[]
}

/** Rows that are read at a time to find their chunks. */
const fetchSize = 1_000

/**
 * Removes rows, the newest bucket first, so that the next cut finds what an interrupted one left.
 * Places of removed rows stay as long as their bucket. Such a place is never found, because its row
 * is not history of any branch.
 */
export class LogCutter {
  readonly #connection: Connection
  readonly #chunks: ChunkTable
  readonly #reader: LogReader
  readonly #timestamp: WriteTimestamp
  readonly #table: string

  constructor(
    { connection, chunks, reader, rank }: { readonly connection: Connection;
      readonly chunks: ChunkTable; readonly reader: LogReader; readonly rank: WriteTimestamp },
  ) {
    this.#connection = connection
    this.#chunks = chunks
    this.#reader = reader
    this.#timestamp = rank
    this.#table = `${connection.keyspace}.log`
  }

  async cut(cut: LogCut): Promise<void> {
    const { branchId, after } = cut
    const newest = await this.#reader.newestBucket(branchId)
    const kept = after === 0 ? undefined : await this.#rangeAt(branchId, after)
    // Rows that are needed exist. Another cut was removing those behind them during the read.
    if (after > 0 && !kept) throw new HeddleError('unavailable')
    for (let bucket = newest; bucket > (kept?.bucket ?? -1); bucket--) {
      await this.#remove(cut, { where: 'branch_id = ? AND bucket = ?', values: [branchId, bucket] })
    }
    if (!kept) return
    const { epoch, bucket } = kept
    const newer = 'branch_id = ? AND bucket = ? AND epoch > ?'
    const behind = 'branch_id = ? AND bucket = ? AND epoch = ? AND seq > ?'
    await this.#remove(cut, { where: newer, values: [branchId, bucket, BigInt(epoch)] })
    await this.#remove(cut, { where: behind,
      values: [branchId, bucket, BigInt(epoch), BigInt(after)] })
    // Deposed owners left these rows. Without the rows that outrank them they would be the end.
    if (bucket === 0) return
    await this.#remove(cut, { where: newer, values: [branchId, bucket - 1, BigInt(epoch)] })
  }

  async #rangeAt(branchId: string, seq: number): Promise<EpochRange | undefined> {
    const end = await this.#reader.end(branchId)
    return end && rangeAt(end.ranges, seq)
  }

  async #remove(cut: LogCut, range: Range): Promise<void> {
    const rank = this.#timestamp.next(await this.#removeChunks(cut, range))
    const cql = `DELETE FROM ${this.#table} USING TIMESTAMP ? WHERE ${range.where}`
    await this.#connection.write({ cql, values: [rank, ...range.values] })
  }

  /**
   * Removes the chunks of the rows. Returns an epoch above those of all the rows, because the owner
   * that removes the last branch that needed them may count its own epochs.
   */
  async #removeChunks({ branchId, epoch }: LogCut, { where, values }: Range): Promise<number> {
    const bounded = where.includes('epoch') ? where : `${where} AND epoch >= 1`
    const cql = `SELECT epoch, seq, chunks FROM ${this.#table} WHERE ${bounded}`
    let above = epoch
    for await (const rows of this.#connection.pages({ cql, values }, fetchSize)) {
      for (const row of rows) above = Math.max(above, Number(row.epoch) + 1)
      await Promise.all(rows.map(async ({ epoch, seq, chunks }) => {
        if (chunks == null) return
        const key = chunkKey(branchId, { epoch: Number(epoch), seq: Number(seq) })
        await this.#chunks.remove(key, chunks, this.#timestamp.next(above))
      }))
    }
    return above
  }
}
