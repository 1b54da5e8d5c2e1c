/** The address of charts: which dashboard, which time, and how it is shown. */

import { oneOf, searchOf, text } from './search.ts'

/** Times before now that charts show. */
export const chartTimes = ['1h', '24h', '7d', '30d'] as const

/** A time that charts show. */
export type ChartTime = typeof chartTimes[number]

/** Reads what the page of charts shows. */
export const readChartsSearch = searchOf({
  /** The id of the dashboard; the first one without it. */
  dashboard: text,
  /** A day without it. */
  time: oneOf(chartTimes),
  /** Numbers instead of drawings. */
  as: oneOf(['table']),
  /** The chart in the editor: its id, or `new`. */
  edit: text,
})

/** Search parameters of the charts page, each absent if its text is invalid. */
export type ChartsSearch = ReturnType<typeof readChartsSearch>
