/** Places of checkpoints, in the log's partitions beside the rows that carry them. */

import { hash } from 'node:crypto'

import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import type { Connection, Row, Statement } from '../driver/connection.ts'
import { insertInto } from '../driver/insert.ts'
import { rangeAt } from './epoch-range.ts'
import type { EpochRangeList } from './epoch-range.ts'
import type { Partition } from './log-row.ts'
import type { StatingRow } from './place-index-row.ts'

/** Buckets that are asked at the same time. */
const wave = 8
/**
 * Places of one id that are read, newest first. The first counts, unless a deposed owner stated it.
 */
const fetchSize = 16

/**
 * Writes and finds places. A place is a row of epoch 0 whose seq is a hash of the id, so it is
 * written with the row that carries it, in one mutation. Its key contains the row that stated it,
 * with the epoch. So a place that a deposed owner states lies beside the true one, and is skipped.
 */
export class CheckpointTable {
  readonly #connection: Connection
  readonly #find: string
  readonly #insert: string
  readonly #insertStamped: string

  constructor(connection: Connection) {
    this.#connection = connection
    const table = `${connection.keyspace}.log`
    this.#insert = insertInto(table, ['branch_id', 'bucket', 'epoch', 'seq', 'stated',
      'stated_epoch', 'place_id', 'place_seq', 'place_base'])
    this.#insertStamped = `${this.#insert} USING TIMESTAMP ?`
    this.#find = `SELECT stated, stated_epoch, place_seq, place_base, place_id FROM ${table}
      WHERE branch_id = ? AND bucket = ? AND epoch = 0 AND seq = ? AND stated <= ?`
  }

  /** Statements that write the places of rows; without a timestamp for a conditional write. */
  statements({ branchId, bucket }: Partition, rows: readonly StatingRow[],
    timestamp?: bigint): Statement[] {
    const stamped = timestamp === undefined ? [] : [timestamp]
    const cql = timestamp === undefined ? this.#insert : this.#insertStamped
    return rows.flatMap(({ epoch, seq, places }) =>
      places.map((place) => ({ cql,
        values: [branchId, bucket, 0n, hashOf(place.id), BigInt(seq), BigInt(epoch), place.id,
          BigInt(place.seq), BigInt(place.base), ...stamped] })
      )
    )
  }

  /** The place when row `through` was the newest one of the branch, if a row carried it by then. */
  async find(
    branch: { readonly id: string; readonly ranges: EpochRangeList; readonly through: number },
    id: string,
  ): Promise<CheckpointPlace | undefined> {
    const buckets = [...new Set(branch.ranges
      .filter(({ from }) => from <= branch.through).map(({ bucket }) => bucket))].reverse()
    for (let at = 0; at < buckets.length; at += wave) {
      const places = await Promise.all(
        buckets.slice(at, at + wave).map((bucket) =>
          this.#findIn({ branchId: branch.id, bucket }, branch, id)
        ),
      )
      const place = places.find((each) => each !== undefined)
      if (place) return place
    }
    return undefined
  }

  async #findIn({ branchId, bucket }: Partition,
    { ranges, through }: { readonly ranges: EpochRangeList; readonly through: number },
    id: string): Promise<CheckpointPlace | undefined> {
    const values = [branchId, bucket, hashOf(id), BigInt(through)]
    for await (const page of this.#connection.pages({ cql: this.#find, values }, fetchSize)) {
      const row = page.find((each) => each.place_id === id && isHistory(ranges, each))
      if (row) return { id, seq: Number(row.place_seq), base: Number(row.place_base) }
    }
    return undefined
  }
}

function isHistory(ranges: EpochRangeList, { stated, stated_epoch }: Row): boolean {
  return rangeAt(ranges, Number(stated))?.epoch === Number(stated_epoch)
}

/** A hash of 63 bits, so that it is not negative. */
function hashOf(id: string): bigint {
  return hash('sha256', id, 'buffer').readBigUInt64BE() >> 1n
}
