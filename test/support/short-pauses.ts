/** Pauses of effects, for tests in which no checkpoint is late. */

import { startsWithinMs } from '../../src/graph/effects/effect-runner.ts'

/** Calls back at the next turn of the event loop for a short time, and never for a long one. */
export function afterShort(ms: number, work: () => void): () => void {
  if (ms > startsWithinMs) return () => {}
  const timer = setTimeout(work)
  return () => clearTimeout(timer)
}
