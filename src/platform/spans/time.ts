/** Times of clients: ISO texts of any precision and zone, or milliseconds since 1970. */

/**
 * Microseconds since 1970; undefined if the value is not a time. A text without a zone is in UTC.
 */
export function readTimeUs(value: unknown): number | undefined {
  if (typeof value === 'number')
    return isTime(value * 1_000)
      ? Math.round(value * 1_000)
      : undefined
  if (typeof value !== 'string') return undefined
  const parts =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?$/i
      .exec(value.trim())
  if (parts === null) return undefined
  const [, day, clock = '00:00:00', fraction = '', zone = 'Z'] = parts
  const ms = Date.parse(`${day}T${clock}${zone.toUpperCase()}`)
  const us = ms * 1_000 + Number(fraction.padEnd(6, '0').slice(0, 6))
  return isTime(us) ? us : undefined
}

/** The time as clients write it: six digits, in UTC. */
export function timeTextUs(us: number): string {
  const digits = String(((us % 1_000_000) + 1_000_000) % 1_000_000).padStart(6, '0')
  return `${new Date(Math.floor(us / 1_000)).toISOString().slice(0, 19)}.${digits}`
}

/** Dates end at 8.64e15 ms; numbers are exact below 2^53, which is the year 2255. */
function isTime(us: number): boolean {
  return Number.isFinite(us) && us >= 0 && us < 2 ** 53
}

/** The time as clients write it, with its zone. */
export function zonedTextUs(us: number): string {
  return `${timeTextUs(us)}+00:00`
}
