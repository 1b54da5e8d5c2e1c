/**
 * Carriers: rows that bring places of checkpoints to where they are found by id.
 *
 * Writing a place together with the row that states it would make every append a batch of two. So
 * one row in eight carries the places that it and the rows before it state. Places stated after the
 * last carrier are only in their own rows; a lookup reads those rows as well.
 */

import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'

/** The part of a log row that says where checkpoints are. */
export interface StatingRow {
  readonly epoch: number
  readonly seq: number
  /** No two of the same id. */
  readonly places: readonly CheckpointPlace[]
}

const rowsOfCarrier = 8
/** A row that states more is always a carrier: eight such rows are too much for one mutation. */
const placesMax = 64

/** The last row up to this one that is a carrier whatever it states; 0 if there is none. */
export function carrierUpTo(seq: number): number {
  return seq - seq % rowsOfCarrier
}

/** Rows whose places a row carries, and rows that wait for the next carrier. */
export interface Freight {
  readonly carried: readonly StatingRow[]
  readonly waiting: readonly StatingRow[]
}

/**
 * A carrier takes all that wait. So, for every checkpoint, what is found in a newer bucket was
 * stated later.
 */
export function freightOf(row: StatingRow, waiting: readonly StatingRow[]): Freight {
  const rows = row.places.length > 0 ? [...waiting, row] : waiting
  const isCarrier = carrierUpTo(row.seq) === row.seq || row.places.length > placesMax
  return isCarrier ? { carried: rows, waiting: [] } : { carried: [], waiting: rows }
}

/** What the next owner of a branch finds of its places. */
export interface Legacy {
  /** Rows whose places wait for the next carrier. */
  readonly waiting: readonly StatingRow[]
  /** Rows whose carriers are not known to have been on a quorum. */
  readonly doubtful: readonly StatingRow[]
}

/** `rows` are the last rows, oldest first; nothing waited before the first of them. */
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

/** What the newest of these rows (oldest first) says of a checkpoint. */
export function placeIn(rows: readonly StatingRow[], id: string): CheckpointPlace | undefined {
  return rows.flatMap(({ places }) => places).findLast((place) => place.id === id)
}
