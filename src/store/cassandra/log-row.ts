/** Rows of the log as Cassandra keeps them: their columns, written and read back. */

import { Places } from '../../../proto/gen/storage/v1/partition.ts'
import type { CheckpointPlace } from '../../../proto/gen/storage/v1/row.ts'
import type { ChainRow } from './chain.ts'
import type { Row, Statement, Value } from './connection.ts'
import { decodeStretches, encodeStretches } from './stretch.ts'
import type { StretchList } from './stretch.ts'

/** A partition of the log: some megabytes of one branch. */
export interface Partition {
  readonly branchId: string
  readonly bucket: number
}

/** A row as it is sent: written again, it is the same to the byte. */
export interface OutgoingRow extends ChainRow, Partition {
  /** Of everything in the bucket, this row included. */
  readonly bucketBytes: number
  /** Set on the first row of a stretch: all stretches, this one included. */
  readonly stretches: StretchList | undefined
  /** No two of the same id. */
  readonly places: readonly CheckpointPlace[]
  /** Empty where it is kept in chunks. */
  readonly body: Uint8Array
  readonly chunks: number
  readonly timestamp: bigint
}

/** A row as it was read. */
export interface StoredRow extends ChainRow {
  readonly bucket: number
  readonly bucketBytes: number
  readonly stretches: StretchList | undefined
  readonly places: readonly CheckpointPlace[]
  readonly body: Uint8Array
  readonly chunks: number
}

/**
 * Every column: read repair carries over to other replicas only what a query asks for, and a row
 * that others build on must be there as a whole.
 */
export const rowColumns =
  'epoch, seq, prev_epoch, settled_seq, bucket_bytes, stretches, places, chunks, body'

/** Writes a row; with its timestamp unless told otherwise. */
export function insertOf(table: string, row: OutgoingRow, stamped = true): Statement {
  const columns: [name: string, value: Value][] = [
    ['branch_id', row.branchId], ['bucket', row.bucket], ['epoch', BigInt(row.epoch)],
    ['seq', BigInt(row.seq)], ['stated', 0n], ['stated_epoch', 0n],
    ['prev_epoch', BigInt(row.prevEpoch)], ['settled_seq', BigInt(row.settledSeq)],
    ['bucket_bytes', row.bucketBytes],
  ]
  // What is not there is not named: a null would be kept as a tombstone.
  if (row.stretches) columns.push(['stretches', encodeStretches(row.stretches)])
  if (row.places.length > 0) columns.push(['places', encodePlaces(row.places)])
  if (row.chunks > 0) columns.push(['chunks', row.chunks])
  else columns.push(['body', row.body])
  return insert(table, columns, stamped ? row.timestamp : undefined)
}

/** Writes one row of a table. */
export function insert(table: string, columns: readonly (readonly [string, Value])[],
  timestamp: bigint | undefined): Statement {
  const names = columns.map(([name]) => name).join(', ')
  const marks = columns.map(() => '?').join(', ')
  const cql = `INSERT INTO ${table} (${names}) VALUES (${marks})`
  const values = columns.map(([, value]) => value)
  return timestamp === undefined ? { cql, values }
    : { cql: `${cql} USING TIMESTAMP ?`, values: [...values, timestamp] }
}

export function storedRowOf(bucket: number, row: Row): StoredRow {
  const { stretches, places, body } = row
  return {
    bucket,
    epoch: Number(row.epoch),
    seq: Number(row.seq),
    prevEpoch: Number(row.prev_epoch),
    settledSeq: Number(row.settled_seq),
    bucketBytes: row.bucket_bytes as number,
    stretches: stretches ? decodeStretches(stretches as Uint8Array) : undefined,
    places: places ? Places.decode(places as Uint8Array).places : [],
    body: body as Uint8Array | null ?? new Uint8Array(),
    chunks: row.chunks as number | null ?? 0,
  }
}

function encodePlaces(places: readonly CheckpointPlace[]): Uint8Array {
  return Places.encode({ places: [...places] }).finish()
}
