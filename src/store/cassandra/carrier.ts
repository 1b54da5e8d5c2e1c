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
/** A row that states more carries them itself: eight such rows are too much for one mutation. */
const placesMax = 64

/** The last carrier up to this row; 0 where there is none. */
export function carrierUpTo(seq: number): number {
  return seq - seq % rowsOfCarrier
}

/** Whether a row waits for the next carrier, when row `newest` is the last one. */
export function waits({ seq, places }: StatingRow, newest: number): boolean {
  return seq > carrierUpTo(newest) && places.length > 0 && places.length <= placesMax
}

/** Rows whose places a row carries, and those that wait for the next carrier. */
export interface Freight {
  readonly carried: readonly StatingRow[]
  readonly waiting: readonly StatingRow[]
}

export function freightOf(row: StatingRow, waiting: readonly StatingRow[]): Freight {
  if (waits(row, row.seq)) return { carried: [], waiting: [...waiting, row] }
  const own = row.places.length > 0 ? [row] : []
  return carrierUpTo(row.seq) === row.seq ? { carried: [...waiting, ...own], waiting: [] }
    : { carried: own, waiting }
}

/** What the newest of these rows, which come oldest first, says of a checkpoint. */
export function placeIn(rows: readonly StatingRow[], id: string): CheckpointPlace | undefined {
  return rows.findLast(({ places }) => places.some((place) => place.id === id))
    ?.places.find((place) => place.id === id)
}
