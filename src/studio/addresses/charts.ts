/** The address of charts: which dashboard, which time, and how it is shown. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** Times before now that charts show. */
export const chartTimes = ['1h', '24h', '7d', '30d'] as const

/** A time that charts show. */
export type ChartTime = typeof chartTimes[number]

/** What the page of charts shows. */
export interface ChartsSearch {
  /** The id of the dashboard; the first one without it. */
  readonly dashboard?: string | undefined
  /** A day without it. */
  readonly time?: ChartTime | undefined
  /** Numbers instead of drawings. */
  readonly as?: 'table' | undefined
  /** The chart in the editor: its id, or `new`. */
  readonly edit?: string | undefined
}

/** Reads it. */
export const readChartsSearch = (raw: RawSearch): ChartsSearch => ({
  dashboard: textIn(raw, 'dashboard'),
  time: oneOf(raw, 'time', chartTimes),
  as: oneOf(raw, 'as', ['table']),
  edit: textIn(raw, 'edit'),
})
