/** Numbers, sizes and durations in words. */

const whole = new Intl.NumberFormat('en')

/** A whole number with its groups of digits, such as 110,051. */
export const count = (value: number): string => whole.format(value)

/** A number with its noun, such as "1 step" or "2 steps". */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

/** 812 B, 4.2 kB, 10 MB. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000
    unit++
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : Number(value.toFixed(1))} ${
    units[unit]
  }`
}

/** <1 ms, 718 ms, 10.8 s, 3 min 4 s, 2 h 5 min. */
export function duration(ms: number): string {
  if (ms < 1) return '<1 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`
  const s = Math.round(ms / 1_000)
  if (s < 3_600) return `${Math.floor(s / 60)} min ${s % 60} s`
  return `${Math.floor(s / 3_600)} h ${Math.floor(s % 3_600 / 60)} min`
}

/** "16s ago", "21m ago", "3h ago", "4d ago", then the date. */
export function ago(thenMs: number, nowMs: number): string {
  const s = Math.max(0, Math.round((nowMs - thenMs) / 1_000))
  if (s < 60) return `${s}s ago`
  if (s < 3_600) return `${Math.floor(s / 60)}m ago`
  if (s < 86_400) return `${Math.floor(s / 3_600)}h ago`
  if (s < 14 * 86_400) return `${Math.floor(s / 86_400)}d ago`
  return new Date(thenMs).toISOString().slice(0, 10)
}
