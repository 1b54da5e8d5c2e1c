/** Times in words, always with their zone. Pure. */

/** Style of a written time. */
export interface MomentStyle {
  /** IANA name of the zone; the reader's if it is missing. */
  readonly zone?: string | undefined
  /** True if seconds are written. */
  readonly seconds?: boolean
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The IANA name of the reader's zone. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** "29 Nov 2026, 03:40 CET". An unknown zone is written in UTC; no time as a dash. */
export function momentWords(ms: number, { zone, seconds = false }: MomentStyle = {}): string {
  return Number.isFinite(ms) ? formatOf(zone ?? '', seconds).format(ms) : '–'
}

/** "29 Nov 2026, 03:40:52 CET (2026-11-29T02:40:52.000Z)": for tooltips. */
export function exactWords(ms: number): string {
  if (!Number.isFinite(ms)) return '–'
  return `${momentWords(ms, { seconds: true })} (${new Date(ms).toISOString()})`
}

/** "03:40:52.1": a time of the reader's day, with digits below the second. */
export function clockWords(ms: number, digits: 1 | 3): string {
  const time = new Date(ms)
  const below = String(time.getMilliseconds()).padStart(3, '0').slice(0, digits)
  return `${time.toLocaleTimeString('en-GB')}.${below}`
}

/** "in 5 min", "in 3 h", "in 4 days"; "now" for what is past. */
export function until(thenMs: number, nowMs: number): string {
  const s = Math.round((thenMs - nowMs) / 1_000)
  if (s <= 0) return 'now'
  if (s < 60) return `in ${s} s`
  if (s < 3_600) return `in ${Math.round(s / 60)} min`
  if (s < 86_400) return `in ${Math.round(s / 3_600)} h`
  const days = Math.round(s / 86_400)
  return `in ${days} ${days === 1 ? 'day' : 'days'}`
}

/** A time as fields of dates have it, in the reader's zone. */
export function localText(ms: number): string {
  const time = new Date(ms)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}` +
    `T${two(time.getHours())}:${two(time.getMinutes())}`
}

function formatOf(zone: string, seconds: boolean): Intl.DateTimeFormat {
  const key = `${zone} ${seconds}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const made = newFormat(zone, seconds)
  formats.set(key, made)
  return made
}

function newFormat(zone: string, seconds: boolean): Intl.DateTimeFormat {
  const parts: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric',
    hour: '2-digit', minute: '2-digit', ...seconds && { second: '2-digit' }, hourCycle: 'h23',
    timeZoneName: 'short' }
  try {
    return new Intl.DateTimeFormat('en-GB', { ...parts, ...zone !== '' && { timeZone: zone } })
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' })
  }
}
