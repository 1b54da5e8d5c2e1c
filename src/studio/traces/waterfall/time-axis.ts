/** The time axis of a waterfall: what part of it is seen, and where spans lie on it. Pure. */

/** A part of the axis, in microseconds since its trace began. */
export interface TimeRange {
  readonly from: number
  readonly to: number
}

/** The shortest part that is shown. */
const shortestUs = 10

/** A bar, in shares of the width. */
export interface Bar {
  readonly left: number
  readonly width: number
  /** It lies before or behind what is seen. */
  readonly isOutside: boolean
}

/** Microseconds since 1970 of a time of the API; null if it is none. */
export function microseconds(iso: string | null): number | null {
  if (iso === null) return null
  const ms = Date.parse(iso)
  if (Number.isNaN(ms)) return null
  const [, digits = ''] = /\.(\d+)/.exec(iso) ?? []
  return ms * 1_000 + Number(digits.slice(3, 6).padEnd(3, '0'))
}

/** Bar of a span on the part of the axis that is seen. */
export function barOf({ from, to }: TimeRange, seen: TimeRange): Bar {
  const length = seen.to - seen.from
  const left = clamp((from - seen.from) / length, 0, 1)
  const right = clamp((to - seen.from) / length, 0, 1)
  return { left, width: right - left, isOutside: to < seen.from || from > seen.to }
}

/** A part that is longer or shorter by a factor; what lies at a share of the width stays there. */
export function zoomed(seen: TimeRange, whole: TimeRange, factor: number, at: number): TimeRange {
  const length = clamp((seen.to - seen.from) * factor, Math.min(shortestUs, lengthOf(whole)),
    lengthOf(whole))
  const fixed = seen.from + (seen.to - seen.from) * at
  return within({ from: fixed - length * at, to: fixed + length * (1 - at) }, whole)
}

/** A part that is moved by a share of its length. */
export function moved(seen: TimeRange, whole: TimeRange, share: number): TimeRange {
  const by = lengthOf(seen) * share
  return within({ from: seen.from + by, to: seen.to + by }, whole)
}

/** The part that shows a span with some room around it. */
export function fitted(span: TimeRange, whole: TimeRange): TimeRange {
  const length = Math.max(lengthOf(span) * 1.1, Math.min(shortestUs, lengthOf(whole)))
  const middle = (span.from + span.to) / 2
  return within({ from: middle - length / 2, to: middle + length / 2 }, whole)
}

/** Ticks at round times, about as many as asked for. */
export function ticksOf({ from, to }: TimeRange, about: number): readonly number[] {
  const step = roundStep((to - from) / Math.max(1, about))
  const first = Math.ceil(from / step)
  const last = Math.floor(to / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step)
}

/** A tick with words after its line, or before it where there is more room. */
export interface TickMark {
  readonly us: number
  readonly side: 'after' | 'before'
}

/** Room that the words of a tick need in pixels. */
const wordsPx = 44

/** Ticks that have room for their words in a ruler of so many pixels. */
export function tickMarks(ticks: readonly number[], { from, to }: TimeRange,
  px: number): readonly TickMark[] {
  const x = (us: number) => (us - from) / (to - from) * px
  return ticks.flatMap((us, at): readonly TickMark[] => {
    if (px - x(us) >= wordsPx) return [{ us, side: 'after' }]
    const wordsEnd = at === 0 ? 0 : x(ticks[at - 1]!) + wordsPx
    return x(us) - wordsPx >= wordsEnd ? [{ us, side: 'before' }] : []
  })
}

/** A tick in words: 0, 250 µs, 1.5 ms, 2 s, 3 min. */
export function tickWords(us: number): string {
  if (us === 0) return '0'
  if (us < 1_000) return `${tidy(us)} µs`
  if (us < 1_000_000) return `${tidy(us / 1_000)} ms`
  if (us < 120_000_000) return `${tidy(us / 1_000_000)} s`
  return us < 7_200_000_000 ? `${tidy(us / 60_000_000)} min` : `${tidy(us / 3_600_000_000)} h`
}

const tidy = (value: number) => String(Number(value.toFixed(3)))

function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10)
}

function within({ from, to }: TimeRange, whole: TimeRange): TimeRange {
  const length = Math.min(to - from, lengthOf(whole))
  const begin = clamp(from, whole.from, whole.to - length)
  return { from: begin, to: begin + length }
}

const lengthOf = ({ from, to }: TimeRange) => to - from

const clamp = (value: number, least: number, most: number) => Math.max(least, Math.min(most, value))
