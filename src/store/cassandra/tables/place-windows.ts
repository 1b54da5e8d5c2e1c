/**
 * Puts places of runs, which an index of Cassandra gives in no order, into that of their creation.
 * It is asked for windows of time, one behind the other, each small enough to be sorted.
 */

import { isNewer } from './merged-places.ts'
import type { PlacedRun } from './run-rows.ts'

/** Width of the first window. The next ones are wider if there is little in them. */
const firstMs = 1_000
/** Time by which the clock of an owner may be ahead. What is later still is found as well. */
const aheadMs = 60_000
/** Factor by which a window grows, or shrinks if it has so many times the wanted places. */
const times = 4

/** A question for the places of a time: later than `fromMs`, up to `untilMs`. */
export interface WindowQuery {
  /** Reads a window like that. It may leave out places if there are `most` or more. */
  readonly read: (fromMs: number, untilMs: number, most: number) => Promise<readonly PlacedRun[]>
  readonly nowMs: number
  readonly fromMs: number
  readonly untilMs: number
  /** Places that a window should have: the index reads each of them by itself, at some 0.3 ms. */
  readonly size: number
}

/** Yields all places, the newest first. An empty time of years takes a dozen windows. */
export async function* inWindows(
  { read, nowMs, fromMs, untilMs, size }: WindowQuery,
): AsyncGenerator<readonly PlacedRun[], void, void> {
  const ahead = nowMs + aheadMs
  let until = untilMs
  let width = until > ahead ? until - ahead : firstMs
  while (until > fromMs) {
    const from = Math.max(fromMs, until - width)
    // The time does not part runs of one millisecond.
    const most = until - from > 1 ? size * times : Infinity
    const places = await read(from, until, most)
    if (places.length >= most) {
      width = Math.ceil((until - from) / times)
      continue
    }
    yield places.toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
    if (from === ahead) width = aheadMs
    else if (from === nowMs) width = firstMs
    else if (places.length < size) width *= times
    until = from
  }
}
