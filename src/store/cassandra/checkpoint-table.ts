/** Where checkpoints are: places, in the log's partitions beside the rows that state them. */

import { hash } from 'node:crypto'

import type { CheckpointPlace } from '../../../proto/gen/storage/v1/row.ts'
import type { Connection, Row, Statement } from './connection.ts'
import { insert } from './log-row.ts'
import type { Partition } from './log-row.ts'
import { stretchAt } from './stretch.ts'
import type { StretchList } from './stretch.ts'

/** The row that states a place. */
export interface StatingRow extends Partition {
  readonly epoch: number
  readonly seq: number
  readonly places: readonly CheckpointPlace[]
}

/** Buckets that are asked at the same time. */
const wave = 8
/** Places of one id, newest first: the first is the one, unless a deposed owner stated it. */
const fetchSize = 16

/**
 * A place is a row of epoch 0 whose seq is a hash of the id. So it is written with the row that
 * states it, in one mutation. The epoch that stated it belongs to its key: what a deposed owner
 * states stands beside what is so, and is passed over.
 */
export class CheckpointTable {
  readonly #connection: Connection
  readonly #table: string
  readonly #find: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#table = `${connection.keyspace}.log`
    this.#find = `SELECT stated, stated_epoch, place_seq, place_base, place_id FROM ${this.#table}
      WHERE branch_id = ? AND bucket = ? AND epoch = 0 AND seq = ? AND stated <= ?`
  }

  /** Writes what a row states. */
  statements({ branchId, bucket, epoch, seq, places }: StatingRow, timestamp?: bigint):
    Statement[] {
    return places.map((place) => insert(this.#table, [
      ['branch_id', branchId], ['bucket', bucket], ['epoch', 0n], ['seq', hashOf(place.id)],
      ['stated', BigInt(seq)], ['stated_epoch', BigInt(epoch)], ['place_id', place.id],
      ['place_seq', BigInt(place.seq)], ['place_base', BigInt(place.base)],
    ], timestamp))
  }

  /** As it was when row `through` was the newest one of the branch. */
  async find(branch: { readonly id: string; readonly stretches: StretchList
    readonly through: number }, id: string): Promise<CheckpointPlace | undefined> {
    const buckets = [...new Set(branch.stretches
      .filter(({ from }) => from <= branch.through).map(({ bucket }) => bucket))].reverse()
    for (let at = 0; at < buckets.length; at += wave) {
      const places = await Promise.all(buckets.slice(at, at + wave).map((bucket) =>
        this.#findIn({ branchId: branch.id, bucket }, branch, id)))
      const place = places.find((each) => each !== undefined)
      if (place) return place
    }
    return undefined
  }

  async #findIn({ branchId, bucket }: Partition,
    { stretches, through }: { readonly stretches: StretchList; readonly through: number },
    id: string): Promise<CheckpointPlace | undefined> {
    const values = [branchId, bucket, hashOf(id), BigInt(through)]
    for await (const page of this.#connection.pages({ cql: this.#find, values }, fetchSize)) {
      const row = page.find((each) => each.place_id === id && isHistory(stretches, each))
      if (row) return { id, seq: Number(row.place_seq), base: Number(row.place_base) }
    }
    return undefined
  }
}

function isHistory(stretches: StretchList, { stated, stated_epoch }: Row): boolean {
  return stretchAt(stretches, Number(stated))?.epoch === Number(stated_epoch)
}

/** 63 bits, so that it is not negative. */
function hashOf(id: string): bigint {
  return hash('sha256', id, 'buffer').readBigUInt64BE() >> 1n
}
