/** Rows of the log as Cassandra keeps them: their columns, written and read back. */

import { Places } from '../../../../proto/gen/storage/v1/partition.ts'
import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import type { Row, Statement, Value } from '../driver/connection.ts'
import { insertInto } from '../driver/insert.ts'
import type { ChainRow } from './chain.ts'
import { decodeRanges, encodeRanges } from './epoch-range.ts'
import type { EpochRangeList } from './epoch-range.ts'
import type { StatingRow } from './place-index-row.ts'

/** A partition of the log: some megabytes of one branch. */
export interface Partition {
  readonly branchId: string
  readonly bucket: number
}

/** A row as it is sent. Written again, it has the same bytes. */
export interface OutgoingRow extends ChainRow, Partition {
  /** Bytes of everything in the bucket, this row included. */
  readonly bucketBytes: number
  /**
   * All epoch ranges, with the one of this row. On the first row of a range, and on place index
   * rows if the ranges are few.
   */
  readonly ranges: EpochRangeList | undefined
  /** Places that the row states, at most one for each id. */
  readonly places: readonly CheckpointPlace[]
  /** Rows whose places this row carries to where they are found. */
  readonly carried: readonly StatingRow[]
  /** Empty if the body is in chunks. */
  readonly body: Uint8Array
  readonly chunks: number
  readonly timestamp: bigint
}

/** A row as it was read. */
export interface StoredRow extends ChainRow {
  readonly bucket: number
  readonly bucketBytes: number
  readonly ranges: EpochRangeList | undefined
  readonly places: readonly CheckpointPlace[]
  readonly body: Uint8Array
  readonly chunks: number
}

/**
 * All columns. Read repair copies to other replicas only what a query asks for, and a row that
 * others build on must be there as a whole.
 */
export const rowColumns =
  'epoch, seq, prev_epoch, settled_seq, bucket_bytes, stretches, places, chunks, body'

const columns = ['branch_id', 'bucket', 'epoch', 'seq', 'stated', 'stated_epoch', 'prev_epoch',
  'settled_seq', 'bucket_bytes', 'stretches', 'places', 'chunks', 'body']

/** Statements that write rows of a table. */
export class RowInsert {
  readonly #table: string
  readonly #cql: string

  constructor(table: string) {
    this.#table = table
    this.#cql = `${insertInto(table, columns)} USING TIMESTAMP ?`
  }

  /** Statement for a plain write, in which null leaves a column out. */
  plain(row: OutgoingRow): Statement {
    return { cql: this.#cql, values: [...valuesOf(row), row.timestamp] }
  }

  /** Statement for a conditional write, in which null would be kept as a tombstone. */
  conditional(row: OutgoingRow): Statement {
    const values = valuesOf(row)
    const there = (_: unknown, at: number) => values[at] !== null
    return { cql: insertInto(this.#table, columns.filter(there)), values: values.filter(there) }
  }
}

/** Values in the order of `columns`. */
function valuesOf(row: OutgoingRow): Value[] {
  return [row.branchId, row.bucket, BigInt(row.epoch), BigInt(row.seq), 0n, 0n,
    BigInt(row.prevEpoch), BigInt(row.settledSeq), row.bucketBytes,
    row.ranges ? encodeRanges(row.ranges) : null,
    row.places.length > 0 ? encodePlaces(row.places) : null, row.chunks > 0 ? row.chunks : null,
    row.chunks > 0 ? null : row.body]
}

/** A row of an answer to a query for `rowColumns`. */
export function storedRowOf(bucket: number, row: Row): StoredRow {
  const { stretches: ranges, body } = row
  return {
    bucket,
    epoch: Number(row.epoch),
    seq: Number(row.seq),
    prevEpoch: Number(row.prev_epoch),
    settledSeq: Number(row.settled_seq),
    bucketBytes: row.bucket_bytes,
    ranges: ranges ? decodeRanges(ranges) : undefined,
    places: placesOf(row),
    body: body ?? new Uint8Array(),
    chunks: row.chunks ?? 0,
  }
}

/** The places that a row states. */
export function placesOf({ places }: Row): readonly CheckpointPlace[] {
  return places ? Places.decode(places).places : []
}

function encodePlaces(places: readonly CheckpointPlace[]): Uint8Array {
  return bytesOf(Places, { places: [...places] })
}
