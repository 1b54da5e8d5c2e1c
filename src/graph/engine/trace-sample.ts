/**
 * Choice of the runs that are traced step by step. Pure, so that all members choose the same runs.
 */

/** True for this share of all runs. The last digits of their ids are random. */
export function isSampled(runId: string, ratio: number): boolean {
  return parseInt(runId.slice(-8), 16) / 2 ** 32 < ratio
}
