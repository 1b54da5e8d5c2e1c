/**
 * Reads the log's partitions: where a branch ends, and the rows of a slice of it.
 *
 * Rule: [read_repair].
 */

import type { LogEntry, ReadBytes } from '../../../checkpoint/index.ts'
import { assert, HeddleError } from '../../../errors.ts'
import type { Connection, Row, Value } from '../driver/connection.ts'
import { comparePositions, historyTo, tailOf } from './chain.ts'
import type { Position } from './chain.ts'
import { chunkBytes } from './chunk-table.ts'
import type { ChunkTable } from './chunk-table.ts'
import { decodeRanges, slicesOf } from './epoch-range.ts'
import type { Slice, EpochRangeList } from './epoch-range.ts'
import { placesOf, rowColumns, storedRowOf } from './log-row.ts'
import type { Partition, StoredRow } from './log-row.ts'
import { indexRowUpTo, inheritedOf } from './place-index-row.ts'
import type { Inherited, StatingRow } from './place-index-row.ts'

/** End of a branch: its last row, and the places that wait for an index row. */
export interface BranchEnd {
  readonly tail: StoredRow
  readonly places: Inherited
  readonly ranges: EpochRangeList
  /** The newest rows that were read for it, oldest first, without a gap. */
  readonly rows: readonly StoredRow[]
}

/**
 * Rows that are read to find the tail, back to the last place index row. `fewRows` is enough if few
 * rows were in flight when their owner ended.
 */
const fewRows = 12
const manyRows = 72
/** Rows that are read at a time. */
const fetchSize = 128

/** Reads rows of all branches. Belongs to `LogTable`. */
export class LogReader {
  readonly #connection: Connection
  readonly #chunks: ChunkTable
  readonly #newest: string
  readonly #probe: string
  readonly #first: string
  readonly #stating: string
  readonly #upwards: string
  readonly #downwards: string

  constructor(connection: Connection, chunks: ChunkTable) {
    this.#connection = connection
    this.#chunks = chunks
    const from = `FROM ${connection.keyspace}.log WHERE branch_id = ? AND bucket = ?`
    const slice = `SELECT epoch, seq, chunks, body ${from}
      AND epoch = ? AND seq >= ? AND seq <= ?`
    const reversed = 'ORDER BY epoch ASC, seq ASC, stated ASC, stated_epoch ASC'
    this.#newest = `SELECT ${rowColumns} ${from} AND epoch >= 1 LIMIT ?`
    this.#probe = `SELECT seq ${from} AND epoch >= 1 LIMIT 1`
    this.#first = `SELECT stretches ${from} AND epoch = ? ${reversed} LIMIT 1`
    this.#stating = `SELECT epoch, seq, places ${from} AND epoch = ? AND seq >= ? AND seq <= ?
      ${reversed}`
    this.#upwards = `${slice} ${reversed}`
    this.#downwards = slice
  }

  /**
   * The end of a branch; undefined for one without rows. The caller may build on the answer: it was
   * read as a whole, from a quorum that agrees now.
   */
  async end(branchId: string): Promise<BranchEnd | undefined> {
    for (let limit = fewRows;; limit = limit === fewRows ? manyRows : 2 * limit) {
      const rows = await this.#newestRows(branchId, limit)
      const tail = tailOf(rows.seen, rows.floor)
      if (tail === 'none') return undefined
      if (tail !== 'unseen') return this.#endAt(branchId, tail, rows.seen)
    }
  }

  /** The newest bucket with anything in it; 0 if all are empty. */
  async newestBucket(branchId: string): Promise<number> {
    let [low, high] = [0, 1]
    while (await this.#occupied({ branchId, bucket: high })) [low, high] = [high, 2 * high]
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (await this.#occupied({ branchId, bucket: middle })) low = middle
      else high = middle
    }
    return low
  }

  /**
   * All rows of a slice. With a semaphore, the rows that it takes. Throws `not_found` if a row is
   * missing, as the log was deleted then.
   */
  async rows(branchId: string, slice: Slice,
    { reverse = false, semaphore }: { readonly reverse?: boolean | undefined;
      readonly semaphore?: ReadBytes }): Promise<LogEntry[]> {
    const { epoch, from, through } = slice
    const entries: LogEntry[] = []
    const values = valuesOf(branchId, slice)
    const cql = reverse ? this.#downwards : this.#upwards
    for await (const page of this.#connection.pages({ cql, values }, fetchSize)) {
      const wanted = semaphore ? taken(page, semaphore) : page
      entries.push(...await Promise.all(wanted.map(async (row) => {
        const seq = Number(row.seq)
        const chunks = row.chunks ?? 0
        const body = chunks === 0
          ? bytesOf(row.body ?? Buffer.alloc(0))
          : await this.#chunks.read(chunkKey(branchId, { epoch, seq }), chunks)
        return { epoch, seq, body }
      })))
      if (wanted.length < page.length) return entries
    }
    if (entries.length === through - from + 1) return entries
    throw rowsAreGone()
  }

  /** Statements of the rows of a branch with these epoch ranges, oldest first. */
  async stating(branchId: string, ranges: EpochRangeList, from: number,
    through: number): Promise<StatingRow[]> {
    const rows = await Promise.all(
      slicesOf(ranges, from, through).map((slice) =>
        this.#connection.read({ cql: this.#stating, values: valuesOf(branchId, slice) })
      ),
    )
    return rows.flat().map((row) => ({ epoch: Number(row.epoch), seq: Number(row.seq),
      places: placesOf(row) })
    )
  }

  async #newestRows(branchId: string,
    limit: number): Promise<{ seen: StoredRow[]; floor: Position | undefined }> {
    const buckets = await this.#newestBuckets(branchId, limit)
    const floors = buckets.filter(({ length }) => length === limit).map((rows) => rows.at(-1)!)
    return {
      seen: buckets.flat().sort(comparePositions),
      floor: floors.sort(comparePositions)[0],
    }
  }

  /**
   * The newest rows of the last two buckets. Whoever deletes the branch while copies need its
   * beginning removes the newest bucket first: then those before it are the last ones.
   */
  async #newestBuckets(branchId: string, limit: number): Promise<StoredRow[][]> {
    for (;;) {
      const first = await this.#bucketsFrom(branchId, 0, limit)
      if (first[1]!.length === 0) return first
      const newest = await this.newestBucket(branchId)
      if (newest <= 1) return first
      const last = await this.#bucketsFrom(branchId, newest - 1, limit)
      if (last.some(({ length }) => length > 0)) return last
    }
  }

  /** The newest rows of a bucket and of the one after it. */
  async #bucketsFrom(branchId: string, first: number, limit: number): Promise<StoredRow[][]> {
    return Promise.all([first, first + 1].map(async (bucket) => {
      const values = [branchId, bucket, limit]
      const rows = await this.#connection.read({ cql: this.#newest, values })
      return rows.map((row) => storedRowOf(bucket, row))
    }))
  }

  async #occupied({ branchId, bucket }: Partition): Promise<boolean> {
    const rows = await this.#connection.read({ cql: this.#probe, values: [branchId, bucket] })
    return rows.length > 0
  }

  async #endAt(branchId: string, tail: StoredRow, seen: readonly StoredRow[]): Promise<BranchEnd> {
    const { epoch, bucket } = tail
    const named = seen.find((row) => row.epoch === epoch && row.bucket === bucket && row.ranges)
    const ranges = named?.ranges ?? await this.#ranges(branchId, tail)
    const from = Math.max(indexRowUpTo(tail.settledSeq) + 1, ranges[0]!.from)
    const rows = historyTo(tail, seen)
    const stating = rows[0]!.seq <= from
      ? rows.flatMap((row) => row.seq >= from ? [statingOf(row)] : [])
      : await this.stating(branchId, ranges, from, tail.seq)
    return { tail, places: inheritedOf(stating, tail.settledSeq), ranges, rows }
  }

  async #ranges(branchId: string, { epoch, bucket }: StoredRow): Promise<EpochRangeList> {
    const values = [branchId, bucket, BigInt(epoch)]
    const [row] = await this.#connection.read({ cql: this.#first, values })
    assert(row?.stretches, 'the first row of a stretch names all stretches')
    return decodeRanges(row.stretches)
  }
}

/** The places of a row, without its body: they outlive it. */
function statingOf({ epoch, seq, places }: StoredRow): StatingRow {
  return { epoch, seq, places }
}

/** The error of a read that finds less than the log had. */
export function rowsAreGone(): HeddleError {
  return new HeddleError('not_found', 'Rows of this log are gone: it was deleted meanwhile.')
}

/** The rows before the first one that there is no room for. */
function taken(page: readonly Row[], semaphore: ReadBytes): readonly Row[] {
  const end = page.findIndex((row) => !semaphore.takes(sizeOf(row)))
  return end < 0 ? page : page.slice(0, end)
}

/** Upper bound of a row's bytes: its last chunk may be shorter than the others. */
function sizeOf({ body, chunks }: Row): number {
  return (chunks ?? 0) * chunkBytes || (body?.byteLength ?? 0)
}

/** The values for a query of a slice. */
function valuesOf(branchId: string, { bucket, epoch, from, through }: Slice): Value[] {
  return [branchId, bucket, BigInt(epoch), BigInt(from), BigInt(through)]
}

/** The bytes as a plain Uint8Array, not a Buffer. */
function bytesOf({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** The name of a row's chunks, for a body that is too large for its row. */
export function chunkKey(branchId: string, { epoch, seq }: Position): string {
  return `${branchId}/${epoch}/${seq}`
}
