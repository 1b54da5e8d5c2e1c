/** Events that a roll-out adds to those of its deployment. */

import type { Deployment } from '../deployment.ts'
import type { NewEvent } from '../deployment-event.ts'
import type { Revision } from '../revision.ts'
import type { MemberProgress, Rollout, RolloutOutcome } from '../rollout.ts'

/** Author of events that no user asked for. */
const ownName = 'heddle'

/** Event of a roll-out that began, or went on to another phase. */
export function phaseEvent(rollout: Rollout): NewEvent {
  const { id, kind, revision, from, percent, phase, by, message } = rollout
  return { kind: 'rollout', by,
    data: { rollout_id: id, action: kind, revision, from, percent, phase, message } }
}

/** Event of a roll-out that ended. Its author is `heddle` unless the result is `done`. */
export function endEvent(outcome: RolloutOutcome): NewEvent {
  const { id, kind, revision, from, percent, result, reason, failures, by } = outcome
  return { kind: 'rollout', by: result === 'done' ? by : ownName,
    data: { rollout_id: id, action: kind, revision, from, percent, phase: 'ended', result, reason,
      failures } }
}

/** Event of a member that is ready, has confirmed, or did not answer in time. */
export function memberEvent({ id: rolloutId }: Rollout,
  { id, state, ms }: MemberProgress): NewEvent {
  return { kind: 'member', by: ownName, data: { rollout_id: rolloutId, member: id, state, ms } }
}

/** Event of a moved pointer. With a reason, the watch moved it back. */
export function pointerEvent({ id, by }: Rollout,
  { active, previous, next, envVersion }: Deployment, reason?: string): NewEvent {
  return { kind: 'pointer', by: reason === undefined ? by : ownName,
    data: { rollout_id: id, active, previous, next, env_version: envVersion,
      ...reason !== undefined && { reason } } }
}

/** Event of a revision that can serve, or never will. */
export function revisionEvent({ id }: Rollout, revision: Pick<Revision, 'name'>,
  state: 'ready' | 'refused', reason: string | null): NewEvent {
  return { kind: 'revision', by: ownName,
    data: { rollout_id: id, revision: revision.name, state, reason } }
}
