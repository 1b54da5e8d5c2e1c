/** Blame on a run that was in progress when its owner died. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { attemptsMax } from './run-queue.ts'

/**
 * innocent  it resumes with the others, and keeps its attempt
 * suspect   it resumes late, in a process of its own, and keeps its attempt until that dies
 * guilty    it ends with an error: it was a suspect already, and owners went on dying under it
 */
export type Verdict = {
  readonly kind: 'innocent' | 'suspect' | 'guilty'
  /** Owners that have died under it since it last finished a superstep. */
  readonly ownerDeaths: number
}

/**
 * The second owner that dies in the same superstep makes any run a suspect: without a mark, too.
 * `isMarked`: its code was the last that a worker of the dead owner had entered.
 */
export function verdictOn(run: Pick<RunRow, 'ownerDeaths' | 'suspect'>,
  isMarked: boolean): Verdict {
  const ownerDeaths = run.ownerDeaths + 1
  if (run.suspect && ownerDeaths >= attemptsMax) return { kind: 'guilty', ownerDeaths }
  const isSuspect = isMarked || run.suspect || ownerDeaths > 1
  return { kind: isSuspect ? 'suspect' : 'innocent', ownerDeaths }
}

/**
 * The attempt that follows when a suspect's own process died: now the owners that died under it are
 * its fault as well.
 */
export function attemptAfterProof(run: Pick<RunRow, 'attempt' | 'ownerDeaths'>): number {
  return run.attempt + 1 + run.ownerDeaths
}
