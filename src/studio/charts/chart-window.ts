/** The time that charts show. Pure. */

import { beginOf } from '../addresses/traces.ts'
import type { ChartTime } from '../addresses/charts.ts'
import type { PlotWindow } from '../plot/chart-scale.ts'

/** Names of the times that charts show. */
export const timeWords: Readonly<Record<ChartTime, string>> = { '1h': 'Last hour',
  '24h': 'Last day', '7d': 'Last week', '30d': 'Last 30 days' }

/** Window of a chart: from the beginning of its time until now. */
export const windowOf = (time: ChartTime, nowMs: number): PlotWindow => ({
  fromMs: beginOf(time, nowMs),
  toMs: nowMs,
})
