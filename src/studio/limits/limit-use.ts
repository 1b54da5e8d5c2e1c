/** Values of the gauges: the use of each limit now, and in the last minute. */

import type { SeenLimit } from '../api/client.ts'
import type { LimitRow, Limits } from '../api/limits.ts'

/** The use of a limit at a time of the page's clock. */
export interface UseSample {
  readonly atMs: number
  readonly used: number
}

/** Samples by the id of a limit, the oldest first. */
export type UseHistory = ReadonlyMap<string, readonly UseSample[]>

/** Milliseconds that the lines go back. */
const shownMs = 60_000

/** Adds the use of all rows, and forgets what is older than a minute. */
export function withSamples(history: UseHistory, rows: readonly LimitRow[],
  atMs: number): UseHistory {
  return new Map(rows.map((row) => {
    const before = (history.get(row.id) ?? []).filter((each) =>
      atMs - each.atMs <= shownMs && each.atMs < atMs
    )
    return [row.id, [...before, { atMs, used: usedOf(row) }]]
  }))
}

/** The length of a window: "10 s", "1 min", "1 h". */
export function windowText(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600} h`
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

/** Number of requests that count against a limit now. */
export const usedOf = ({ limit, remaining }: Pick<LimitRow, 'limit' | 'remaining'>): number =>
  Math.max(0, limit - remaining)

/**
 * Nearness of a use to its limit.
 *
 * calm   much is left
 * near   less than a fifth is left
 * full   nothing is left
 */
export type Nearness = 'calm' | 'near' | 'full'

/** Nearness of a use to its limit: near above four fifths, full from the limit on. */
export function nearnessOf(used: number, limit: number): Nearness {
  if (used >= limit) return 'full'
  return used > limit * .8 ? 'near' : 'calm'
}

interface UsedAndOthers {
  readonly used: readonly LimitRow[]
  readonly others: readonly LimitRow[]
}

/** The limits that are used or refused something, and the others. Both in their order. */
export function byUse(rows: readonly LimitRow[]): UsedAndOthers {
  const isUsed = (row: LimitRow) => usedOf(row) > 0 || row.refused > 0
  return { used: rows.filter(isUsed), others: rows.filter((row) => !isUsed(row)) }
}

/**
 * The limits after an answer whose headers say how much is left of one: `"default-key";r=99`. The
 * same object if they say nothing new.
 */
export function withHeaders(limits: Limits, { limit }: SeenLimit): Limits {
  const [, id, left] = /^"([\w-]+)";r=(\d+)/.exec(limit) ?? []
  const remaining = Number(left)
  const row = limits.rows.find((each) => each.id === id)
  if (row === undefined || row.remaining === remaining) return limits
  return { ...limits,
    rows: limits.rows.map((each) => each === row ? { ...each, remaining } : each) }
}

/** The points of a line through the samples on a plane of this size, the newest at the right. */
export function linePoints(samples: readonly UseSample[],
  plane: { readonly width: number; readonly height: number; readonly most: number }): string {
  const lastMs = samples.at(-1)?.atMs ?? 0
  return samples.map(({ atMs, used }) => {
    const x = plane.width * (1 - (lastMs - atMs) / shownMs)
    const y = plane.height * (1 - Math.min(1, plane.most === 0 ? 0 : used / plane.most))
    return `${x.toFixed(1)},${y.toFixed(1)}`
  }).join(' ')
}
