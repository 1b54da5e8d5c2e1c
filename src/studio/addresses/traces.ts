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
  /** Id of the span of the trace that is looked at beside the list. */
  peek: text,
})

/** Search parameters of the page of a project, each absent if its text is invalid. */
export type ProjectSearch = ReturnType<typeof readProjectSearch>

/** Reads what a trace shows. */
export const readTraceSearch = searchOf({
  /** Id of the chosen span; the root without it. */
  span: text,
  /** Words that names contain. */
  q: text,
  /** Pane that a narrow window shows: the span; the waterfall without it. */
  pane: oneOf(['span']),
})

/** Search parameters of the page of a trace, each absent if its text is invalid. */
export type TraceSearch = ReturnType<typeof readTraceSearch>

const hourMs = 3_600_000
const lengthsMs = { '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs, '30d': 720 * hourMs }

/** When the time begins, in whole minutes so that the same question is asked; 0 for any. */
export const beginOf = (time: ProjectSearch['time'], nowMs: number): number =>
  time === undefined ? 0 : Math.floor((nowMs - lengthsMs[time]) / 60_000) * 60_000
