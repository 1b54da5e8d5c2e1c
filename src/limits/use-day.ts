/** The day in UTC over which a daily limit counts. Pure. */

const dayMs = 86_400_000

/** The day to count on, and whether counts start at zero on it. */
export interface UseDay {
  /** For example `2026-11-30`. */
  readonly day: string
  readonly isNew: boolean
}

/**
 * Returns the day after counts on the day `counted`; an empty string means no counts. `nowMs`
 * comes from a cautious clock.
 *
 * Counts of the next day stay, because clocks of members differ around midnight. Counts of a later
 * day were made under a clock that was ahead: they count today, so that a wrong clock frees no use.
 */
export function nextUseDay(counted: string, nowMs: number): UseDay {
  const today = dayAt(nowMs)
  if (counted < today) return { day: today, isNew: true }
  return { day: counted <= dayAt(nowMs + dayMs) ? counted : today, isNew: false }
}

function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
