/** The end of a deployment without a successful build. Pure. */

import type { Deployment } from '../deployment.ts'
import type { Revision } from '../revision.ts'

/**
 * Milliseconds in which the reason of a failed build can be read, and the deployment be used again.
 */
const unusedMs = 3_600_000

/** True if it may have ended: only then its revisions have to be read. */
export function mayEnd(
  { provisional, active, previous, rollout, lastRollout, modifiedAtMs }: Deployment,
  nowMs: number,
): boolean {
  const everServed = active !== null || previous !== null || rollout !== null ||
    lastRollout !== null
  return provisional === true && !everServed && nowMs >= modifiedAtMs + unusedMs
}

/** True if all of its revisions were refused, the newest a while ago. */
export function hasFailed(revisions: readonly Revision[], nowMs: number): boolean {
  return revisions.every(({ state, createdAtMs }) =>
    state === 'refused' && nowMs >= createdAtMs + unusedMs
  )
}
