/**
 * Place index rows: rows that carry places of checkpoints to where they are found by id.
 *
 * To write a place with the row that states it would make every append a batch of two. So one row
 * in eight carries the places that it and the rows before it state. Places stated after the last
 * place index row are only in their own rows, which a lookup reads as well.
 */

import type { CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'

/** The part of a log row that says where checkpoints are. */
export interface StatingRow {
  readonly epoch: number
  readonly seq: number
  /** Places, at most one for each id. */
  readonly places: readonly CheckpointPlace[]
}

const rowsOfIndexRow = 8
/**
 * Places above which a row is a place index row anyway: eight such rows are too much for one
 * mutation.
 */
const placesMax = 64

/** Seq of the last row up to this one that is always a place index row; 0 if there is none. */
export function indexRowUpTo(seq: number): number {
  return seq - seq % rowsOfIndexRow
}

/** Rows whose places a row carries, and rows that wait for the next place index row. */
export interface PendingPlaces {
  readonly carried: readonly StatingRow[]
  readonly waiting: readonly StatingRow[]
}

/**
 * Decides what a row carries. A place index row takes all that wait. So, for every checkpoint, a
 * place in a newer bucket was stated later.
 */
export function pendingPlacesOf(row: StatingRow, waiting: readonly StatingRow[]): PendingPlaces {
  const rows = row.places.length > 0 ? [...waiting, row] : waiting
  const isIndexRow = indexRowUpTo(row.seq) === row.seq || row.places.length > placesMax
  return isIndexRow ? { carried: rows, waiting: [] } : { carried: [], waiting: rows }
}

/** Places of a branch that its next owner takes over. */
export interface Inherited {
  /** Rows whose places wait for the next place index row. */
  readonly waiting: readonly StatingRow[]
  /** Rows whose place index rows are not known to have been on a quorum. */
  readonly unconfirmed: readonly StatingRow[]
}

/**
 * Finds the places to take over. `rows` are the last rows, oldest first. No place waited before
 * them.
 */
export function inheritedOf(rows: readonly StatingRow[], settledSeq: number): Inherited {
  const unconfirmed: StatingRow[] = []
  let left: readonly StatingRow[] = []
  for (const row of rows) {
    const { carried, waiting } = pendingPlacesOf(row, left)
    if (row.seq > settledSeq) unconfirmed.push(...carried)
    left = waiting
  }
  return { waiting: left, unconfirmed }
}

/** The place of a checkpoint in the newest of these rows that has one. Rows are oldest first. */
export function placeIn(rows: readonly StatingRow[], id: string): CheckpointPlace | undefined {
  return rows.flatMap(({ places }) => places).findLast((place) => place.id === id)
}
