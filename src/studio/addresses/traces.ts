/** The addresses of traces: filters, the chosen span, the view. */

import { oneOf, searchOf, text } from './search.ts'

/** Times before now in which traces began. */
export const traceTimes = ['1h', '24h', '7d', '30d'] as const

/** Reads what the list of projects shows. */
export const readProjectListSearch = searchOf({
  /** A part of the names. */
  q: text,
})

/** Reads what a project shows. */
export const readProjectSearch = searchOf({
  /** A filter in words, such as `weather status:error latency>2s`. */
  q: text,
  /** A filter in the language of the API, instead of words. */
  filter: text,
  /** Any time without it. */
  time: oneOf(traceTimes),
  charts: oneOf(['on']),
  /** Rows of the list: traces without it. */
  list: oneOf(['runs', 'calls', 'conversations']),
  /** The newest first without it. */
  order: oneOf(['oldest']),
  /** Columns with their widths, such as `tags,tokens:80,metadata.plan`. */
  cols: text,
  /** Id of the span of the trace that is looked at beside the list. */
  peek: text,
})

/** Search parameters of the page of a project, each absent if its text is invalid. */
export type ProjectSearch = ReturnType<typeof readProjectSearch>

/** Times that a span of a trace took at least, in milliseconds. */
export const leastTimes = ['1', '10', '100', '1000', '10000', '60000'] as const

/** Reads what a trace shows. */
export const readTraceSearch = searchOf({
  /** Id of the chosen span; the root without it. */
  span: text,
  /** Words of names, inputs and outputs. */
  q: text,
  /** Only spans that failed. */
  failed: oneOf(['on']),
  /** Only spans that took so long, in milliseconds. */
  least: (given: unknown) => leastTimes.find((each) => each === String(given)),
  /** Only the critical path. */
  path: oneOf(['on']),
  /** The list of the slowest spans is open. */
  slow: oneOf(['on']),
  /** Id of another trace of the project, which this one is compared with. */
  vs: text,
  /** Pane that a narrow window shows: the span; the waterfall without it. */
  pane: oneOf(['span']),
})

/** Search parameters of the page of a trace, each absent if its text is invalid. */
export type TraceSearch = ReturnType<typeof readTraceSearch>

const hourMs = 3_600_000
const lengthsMs = { '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs, '30d': 720 * hourMs }

/** Part of the address that says what a waterfall shows. */
export type WaterfallView = Pick<TraceSearch, 'q' | 'failed' | 'least' | 'path' | 'slow'>

/** When the time begins, in whole minutes so that the same question is asked; 0 for any. */
export const beginOf = (time: ProjectSearch['time'], nowMs: number): number =>
  time === undefined ? 0 : Math.floor((nowMs - lengthsMs[time]) / 60_000) * 60_000
