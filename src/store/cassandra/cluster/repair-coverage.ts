/** Coverage of the ring of tokens by repairs, and since when. Pure. */

/** A repair that ended well. */
export interface Repair {
  readonly startedAtMs: number
  /** Parts of the ring, as `(from,to]`. */
  readonly ranges: readonly string[]
}

/** Tokens after one of them, up to and including another one. */
interface Interval {
  readonly from: bigint
  readonly to: bigint
}

/** Bounds beyond the tokens of each partitioner. */
const [lowest, highest] = [-(2n ** 128n), 2n ** 128n]

/**
 * The time since which all of the ring was repaired: each part of it by a repair that began then or
 * later. Undefined if some part was not.
 */
export function repairedSince(repairs: readonly Repair[]): number | undefined {
  const newestFirst = repairs.toSorted((one, other) => other.startedAtMs - one.startedAtMs)
  let covered: readonly Interval[] = []
  for (const { startedAtMs, ranges } of newestFirst) {
    covered = union([...covered, ...ranges.flatMap(intervalsOf)])
    const [first] = covered
    if (first?.from === lowest && first.to === highest) return startedAtMs
  }
  return undefined
}

/** Two intervals for a part that goes past the end of the ring, and on from its beginning. */
function intervalsOf(range: string): readonly Interval[] {
  const found = /^\((-?\d+),\s*(-?\d+)\]$/.exec(range)
  if (found === null) return []
  const [from, to] = [BigInt(found[1]!), BigInt(found[2]!)]
  return from < to ? [{ from, to }] : [{ from, to: highest }, { from: lowest, to }]
}

/** Joins intervals that touch, and returns them in order. */
function union(intervals: readonly Interval[]): readonly Interval[] {
  const merged: Interval[] = []
  for (const next of intervals.toSorted((one, other) => one.from < other.from ? -1 : 1)) {
    const last = merged.at(-1)
    if (last === undefined || next.from > last.to) merged.push(next)
    else if (next.to > last.to) merged.splice(-1, 1, { from: last.from, to: next.to })
  }
  return merged
}
