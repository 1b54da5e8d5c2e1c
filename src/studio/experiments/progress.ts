/** State of an experiment: under way or over. No client says when all of it is there. Pure. */

import type { Experiment } from '../api/platform/experiments.ts'
import { zoned } from '../parts/trace-words.ts'

/** An experiment that received nothing for so long is over. */
const quietMs = 60_000

/** Times of an experiment that tell if it is under way. */
export type Progress = Pick<Experiment, 'start_time' | 'end_time' | 'last_run_start_time'>

/** True while its runs come, and a while after: scores follow them. */
export function isRunning(experiment: Progress, nowMs: number): boolean {
  const { start_time: start, end_time: end, last_run_start_time: last } = experiment
  // Some clients set an end as soon as the runs are there, before they are scored.
  const times = [start, end, last].flatMap((time) => time ? [Date.parse(zoned(time))] : [])
  return nowMs - Math.max(...times) < quietMs
}

/** Milliseconds until numbers are asked for again: 3 000 during an experiment, else 15 000. */
export const againMs = (experiments: readonly Progress[], nowMs: number): number =>
  experiments.some((each) => isRunning(each, nowMs)) ? 3_000 : 15_000
