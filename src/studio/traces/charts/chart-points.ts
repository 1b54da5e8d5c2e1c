/** The values of charts, side by side by their time. Pure. */

import type { ChartPoint } from '../../../api/index.ts'
import type { chartMetrics } from '../../api/platform/projects.ts'

/** Metric of a project that a chart draws. */
export type Metric = typeof chartMetrics[number]

/** A time, and the value of each metric then. */
export interface ChartRow extends Readonly<Partial<Record<Metric, number | null>>> {
  readonly atMs: number
}

/** Rows of the values, sorted by their time. */
export function chartRows(points: readonly Omit<ChartPoint, 'group'>[]): readonly ChartRow[] {
  const rows = new Map<string, { atMs: number; [metric: string]: number | null }>()
  for (const { series_id: metric, timestamp, value } of points) {
    const row = rows.get(timestamp) ?? { atMs: Date.parse(timestamp) }
    rows.set(timestamp, row)
    row[metric] = typeof value === 'number' ? value : null
  }
  return [...rows.values()].toSorted((a, b) => a.atMs - b.atMs) as readonly ChartRow[]
}

/** The largest value of a metric; null if there is none. */
export function largestOf(rows: readonly ChartRow[], metric: Metric): number | null {
  return rows.reduce<number | null>((most, row) => {
    const value = row[metric]
    return typeof value === 'number' && (most === null || value > most) ? value : most
  }, null)
}
