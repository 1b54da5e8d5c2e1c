/** What a roll-out adds to the events of its deployment. */

import type { Deployment } from '../deployment.ts'
import type { NewEvent } from '../deployment-event.ts'
import type { Revision } from '../revision.ts'
import type { MemberProgress, Rollout, RolloutOutcome } from '../rollout.ts'

/** Who does what nobody asked for. */
const ownName = 'heddle'

/** It began, or went on to another phase. */
export function phaseEvent(rollout: Rollout): NewEvent {
  const { id, kind, revision, from, percent, phase, by, message } = rollout
  return { kind: 'rollout', by,
    data: { rollout_id: id, action: kind, revision, from, percent, phase, message } }
}

/** It ended. */
export function endEvent(outcome: RolloutOutcome): NewEvent {
  const { id, kind, revision, from, percent, result, reason, failures, by } = outcome
  return { kind: 'rollout', by: result === 'done' ? by : ownName,
    data: { rollout_id: id, action: kind, revision, from, percent, phase: 'ended', result, reason,
      failures } }
}

/** A member is ready or has confirmed, or did not in time. */
export function memberEvent({ id: rolloutId }: Rollout,
  { id, state, ms }: MemberProgress): NewEvent {
  return { kind: 'member', by: ownName, data: { rollout_id: rolloutId, member: id, state, ms } }
}

/** The pointer moved. With a reason, the watch moved it back. */
export function pointerEvent({ id, by }: Rollout,
  { active, previous, next, envVersion }: Deployment, reason?: string): NewEvent {
  return { kind: 'pointer', by: reason === undefined ? by : ownName,
    data: { rollout_id: id, active, previous, next, env_version: envVersion,
      ...reason !== undefined && { reason } } }
}

/** A revision can serve, or never will. */
export function revisionEvent({ id }: Rollout, revision: Pick<Revision, 'name'>,
  state: 'ready' | 'refused', reason: string | null): NewEvent {
  return { kind: 'revision', by: ownName,
    data: { rollout_id: id, revision: revision.name, state, reason } }
}
