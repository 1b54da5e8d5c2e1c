/** Attempt of a run that a step belongs to. */

import type { StepMetadata } from './states.ts'

/** The attempt that made a step: the first, or one after a failure. */
export function attemptOf(metadata: StepMetadata | null | undefined): number {
  return Math.max(metadata?.run_attempt ?? 1, metadata?.run_starts ?? 1)
}
