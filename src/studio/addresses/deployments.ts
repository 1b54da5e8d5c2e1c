/** The addresses of deployments. */

import { oneOf, searchOf, text, time } from './search.ts'

/** Levels of lines: each shows those above as well. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const

/** Times until now, or `range` from one time until another. */
export const logSpans = ['15m', '1h', '24h', 'range'] as const

/** Reads what the page of a deployment shows. */
export const readDeploymentSearch = searchOf({
  /** The revisions if absent. */
  view: oneOf(['revisions', 'replays', 'logs', 'secrets', 'events']),
  /** The revision that is looked at, or whose lines are shown. */
  revision: text,
  /** The form of a replay is open, for that revision if one is named. */
  act: oneOf(['replay']),
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

/** All verdicts, in the order in which they are shown. */
export const verdicts = ['same', 'same_result', 'diverged', 'fixed', 'failed', 'unstable',
  'not_replayable'] as const

/** Reads what the page of a replay shows. */
export const readReplaySearch = searchOf({
  /** Only runs with this verdict. */
  verdict: oneOf(verdicts),
  /** Only runs that differ in the way that has this key. */
  group: text,
  /** The run whose difference is shown. */
  run: text,
})

/** Search parameters of the page of a replay, each absent if its text is invalid. */
export type ReplaySearch = ReturnType<typeof readReplaySearch>

/** Search parameters of the page of a deployment, each absent if its text is invalid. */
export type DeploymentSearch = ReturnType<typeof readDeploymentSearch>
