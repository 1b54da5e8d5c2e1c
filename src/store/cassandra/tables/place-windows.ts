/**
 * Puts places of runs, which an index of Cassandra gives in no order, into that of their creation.
 * It is asked for windows of time, one behind the other, each small enough to be sorted.
 */

import { isNewer } from './merged-places.ts'
import type { PlacedRun } from './run-rows.ts'

/** Width of the first window. The next ones are wider if there is little in them. */
const firstMs = 60_000
/** Time by which the clock of an owner may be ahead. What is later still is found as well. */
const aheadMs = 60_000
/** Places of a window. With more of them, a smaller window is read instead. */
const placesMax = 2_000
/** Factor by which a window grows, or shrinks if it has too many places. */
const times = 4

/** A question for the places of a time: later than `fromMs`, up to `untilMs`. */
export interface WindowQuery {
  /** Reads a window like that. It may leave out places if there are `most` or more. */
  readonly read: (fromMs: number, untilMs: number, most: number) => Promise<readonly PlacedRun[]>
  readonly nowMs: number
  readonly fromMs: number
  readonly untilMs: number
}

/** Yields all places, the newest first. An empty time of years takes a dozen windows. */
export async function* inWindows({ read, nowMs, fromMs, untilMs }: WindowQuery): AsyncGenerator<
  readonly PlacedRun[],
  void,
  void
> {
  const ahead = nowMs + aheadMs
  let until = untilMs
  let width = until > ahead ? until - ahead : firstMs
  while (until > fromMs) {
    const from = Math.max(fromMs, until - width)
    // The time does not part runs of one millisecond.
    const most = until - from > 1 ? placesMax : Infinity
    const places = await read(from, until, most)
    if (places.length >= most) {
      width = Math.ceil((until - from) / times)
      continue
    }
    yield places.toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
    if (from === ahead) width = firstMs
    else if (places.length < placesMax / times) width *= times
    until = from
  }
}
