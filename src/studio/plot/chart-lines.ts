/** The lines of a chart: the values of each series and group, side by side by their time. Pure. */

import type { ChartPoint } from '../../api/index.ts'
import { count } from '../parts/amounts.ts'
import { dollars, latency, score, share, zoned } from '../parts/trace-words.ts'

/** A line, or the bars of one kind. */
export interface ChartLine {
  readonly key: string
  /** The id of its series. */
  readonly series: string
  readonly label: string
  /** By time; null where there is nothing to count. */
  readonly values: readonly (number | null)[]
}

/** Lines of a chart, with the times that they share. */
export interface ChartLines {
  /** When each step begins, milliseconds since 1970. */
  readonly times: readonly number[]
  readonly lines: readonly ChartLine[]
  /** True if there is a value that is not zero. */
  readonly hasValues: boolean
}

/** A series by its id, or by its place in a chart that is not kept yet. */
export interface NamedSeries {
  readonly id?: string | null | undefined
  readonly name: string
}

/** Lines of a drawing: more look alike. */
const linesMax = 12

/** The lines of values that the API gave. */
export function linesOf(series: readonly NamedSeries[], points: readonly ChartPoint[]): ChartLines {
  const times = [...new Set(points.map(({ timestamp }) => timestamp))].toSorted()
  const place = new Map(times.map((time, at) => [time, at]))
  const lines = new Map<string, ChartLine & { values: (number | null)[] }>()
  for (const { series_id: id, group, timestamp, value } of points) {
    const key = JSON.stringify([id, group])
    const line = lines.get(key) ??
      { key, series: id, label: labelOf(series, id, group), values: times.map(() => null) }
    lines.set(key, line)
    line.values[place.get(timestamp)!] = typeof value === 'number' ? value : null
  }
  const all = [...lines.values()].slice(0, linesMax)
  return { times: times.map((time) => Date.parse(zoned(time))), lines: all,
    hasValues: all.some(({ values }) => values.some((value) => value !== null && value !== 0)) }
}

function labelOf(series: readonly NamedSeries[], id: string, group: string | null): string {
  const at = series.findIndex((each, place) => (each.id ?? String(place)) === id)
  const name = series[at]?.name ?? ''
  if (group === null) return name
  const words = group === '' ? '(none)' : group
  return series.length > 1 ? `${words}, ${name}` : words
}

/** The largest value of all lines; 0 if there is none. */
export const largestOf = ({ lines }: ChartLines): number =>
  lines.reduce(
    (most, { values }) => values.reduce<number>((max, value) => Math.max(max, value ?? 0), most),
    0,
  )

/** Kind of the numbers of a metric. */
export type MetricKind = 'share' | 'latency' | 'cost' | 'score' | 'count'

/** The kind of a metric; numbers of an unknown one are counted. */
export function kindOf(metric = ''): MetricKind {
  if (metric.endsWith('rate')) return 'share'
  if (/^(latency|first_token)_/.test(metric)) return 'latency'
  if (/cost/.test(metric)) return 'cost'
  return metric === 'feedback_score_avg' ? 'score' : 'count'
}

const plain = (value: number | null): string => value === null ? '–' : count(Math.round(value))

const writers = { share, latency, cost: dollars, score, count: plain }

/** Writer of the numbers of a metric. */
export const wordsOf = (metric: string | undefined): (value: number | null) => string =>
  writers[kindOf(metric)]

/** Summary of a chart for people who cannot see its drawing. */
export function summaryOf({ lines }: ChartLines, words: (value: number | null) => string): string {
  return lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null)
    if (known.length === 0) return `${label} without a value`
    const [least, most] = [words(Math.min(...known)), words(Math.max(...known))]
    return least === most ? `${label} ${most}` : `${label} from ${least} to ${most}`
  }).join('; ')
}
