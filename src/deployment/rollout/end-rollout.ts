/** Ends a roll-out: its outcome takes its place in the record of the deployment. */

import type { DeploymentChange } from '../deployment.ts'
import type { GraphFailure } from '../revision.ts'
import type { Rollout, RolloutOutcome, RolloutResult } from '../rollout.ts'

/** Result of a roll-out, with the reason and the graphs that failed. */
export interface RolloutEnd {
  readonly result: RolloutResult
  /** Reason in one sentence, for a result other than `done`. */
  readonly reason?: string
  readonly failures?: readonly GraphFailure[]
}

/** Change of the deployment when its roll-out ends. The pointer is not part of it. */
export function endedRollout(rollout: Rollout, { result, reason, failures = [] }: RolloutEnd,
  nowMs: number): DeploymentChange & { readonly lastRollout: RolloutOutcome } {
  const { id, kind, revision, from, percent, members, by, startedAtMs } = rollout
  return { rollout: null,
    lastRollout: { id, kind, revision, from, percent, members, by, result, reason: reason ?? null,
      failures, startedAtMs, endedAtMs: nowMs } }
}
