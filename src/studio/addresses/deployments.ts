/** The addresses of deployments. */

import { oneOf, searchOf, text, time } from './search.ts'

/** Levels of lines: each shows those above as well. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** Times until now, or `range` from one time until another. */
export const logSpans = ['15m', '1h', '24h', 'range'] as const

/** Reads what the page of a deployment shows. */
export const readDeploymentSearch = searchOf({
  /** The revisions if absent. */
  view: oneOf(['revisions', 'logs', 'secrets', 'events']),
  /** The revision that is looked at, or whose lines are shown. */
  revision: text,
  /** Only lines of this level and those above. */
  level: oneOf(logLevels),
  /** A text that is in the lines. */
  q: text,
  /** Only lines of this time until now … */
  span: oneOf(logSpans),
  /** … or from and until a time. */
  from: time,
  to: time,
})

/** Search parameters of the page of a deployment, each absent if its text is invalid. */
export type DeploymentSearch = ReturnType<typeof readDeploymentSearch>
