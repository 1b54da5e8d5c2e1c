/**
 * Carriers: rows that bring places of checkpoints to where they are found by id.
 *
 * A place that is written with the row that states it makes of each append a batch of two. So one
 * row in eight carries what it and those before it state. What was stated after the last carrier
 * stands in its row alone, and whoever looks for it looks at those rows.
 */

import type { CheckpointPlace } from '../../../proto/gen/storage/v1/row.ts'

/** A row of the log, as far as it says where checkpoints are. */
export interface StatingRow {
  readonly epoch: number
  readonly seq: number
  /** No two of the same id. */
  readonly places: readonly CheckpointPlace[]
}

const rowsOfCarrier = 8
/** A row that states more is a carrier: eight such rows are too much for one mutation. */
const placesMax = 64

/** The last row up to this one that is a carrier whatever it states; 0 where there is none. */
export function carrierUpTo(seq: number): number {
  return seq - seq % rowsOfCarrier
}

/** Rows whose places a row carries, and those that wait for the next carrier. */
export interface Freight {
  readonly carried: readonly StatingRow[]
  readonly waiting: readonly StatingRow[]
}

/**
 * A carrier takes all that wait: what is found in a newer bucket was stated later, for every
 * checkpoint.
 */
export function freightOf(row: StatingRow, waiting: readonly StatingRow[]): Freight {
  const rows = row.places.length > 0 ? [...waiting, row] : waiting
  const isCarrier = carrierUpTo(row.seq) === row.seq || row.places.length > placesMax
  return isCarrier ? { carried: rows, waiting: [] } : { carried: [], waiting: rows }
}

/** What whoever takes a branch over finds of its places. */
export interface Legacy {
  /** They wait for the next carrier. */
  readonly waiting: readonly StatingRow[]
  /** Of their carriers nobody knows that they were on a quorum. */
  readonly doubtful: readonly StatingRow[]
}

/** Of the last rows, oldest first, before which nothing waited. */
export function legacyOf(rows: readonly StatingRow[], settledSeq: number): Legacy {
  const doubtful: StatingRow[] = []
  let left: readonly StatingRow[] = []
  for (const row of rows) {
    const { carried, waiting } = freightOf(row, left)
    if (row.seq > settledSeq) doubtful.push(...carried)
    left = waiting
  }
  return { waiting: left, doubtful }
}

/** What the newest of these rows, which come oldest first, says of a checkpoint. */
export function placeIn(rows: readonly StatingRow[], id: string): CheckpointPlace | undefined {
  return rows.flatMap(({ places }) => places).findLast((place) => place.id === id)
}
