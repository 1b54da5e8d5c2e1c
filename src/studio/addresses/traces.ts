/** The addresses of traces: filters, the chosen span, the view. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** What the list of projects shows. */
export interface ProjectListSearch {
  /** A part of the names. */
  readonly q?: string | undefined
}

/** Times before now in which traces began. */
export const traceTimes = ['1h', '24h', '7d', '30d'] as const

/** What a project shows. */
export interface ProjectSearch {
  /** A filter in words, such as `weather status:error latency>2s`. */
  readonly q?: string | undefined
  /** A filter in the language of the API, instead of words. */
  readonly filter?: string | undefined
  /** Any time without it. */
  readonly time?: typeof traceTimes[number] | undefined
  readonly charts?: 'on' | undefined
  /** Id of the span of the trace that is looked at beside the list. */
  readonly peek?: string | undefined
}

/** What a trace shows. */
export interface TraceSearch {
  /** Id of the chosen span; the root without it. */
  readonly span?: string | undefined
  /** Words that names contain. */
  readonly q?: string | undefined
  /** What a narrow window shows. */
  readonly pane?: 'span' | undefined
}

/** Reads it. */
export const readProjectListSearch = (raw: RawSearch): ProjectListSearch => ({
  q: textIn(raw, 'q'),
})

/** Reads it. */
export function readProjectSearch(raw: RawSearch): ProjectSearch {
  return {
    q: textIn(raw, 'q'),
    filter: textIn(raw, 'filter'),
    time: oneOf(raw, 'time', traceTimes),
    charts: oneOf(raw, 'charts', ['on']),
    peek: textIn(raw, 'peek'),
  }
}

/** Reads it. */
export function readTraceSearch(raw: RawSearch): TraceSearch {
  return { span: textIn(raw, 'span'), q: textIn(raw, 'q'), pane: oneOf(raw, 'pane', ['span']) }
}

const hourMs = 3_600_000
const lengthsMs = { '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs, '30d': 720 * hourMs }

/** When the time begins, in whole minutes so that the same question is asked; 0 for any. */
export const beginOf = (time: ProjectSearch['time'], nowMs: number): number =>
  time === undefined ? 0 : Math.floor((nowMs - lengthsMs[time]) / 60_000) * 60_000
