/** Choice of the revisions of a deployment that are removed because nothing needs them. Pure. */

import type { Deployment } from '../deployment.ts'
import type { Revision } from '../revision.ts'
import type { RevisionUse } from '../revision-use.ts'
import { pointsTo } from './deployment-record.ts'

/** Bounds on revisions that nothing points to. */
export interface RetentionLimits {
  /** Number of the newest revisions that are kept, whatever their age. */
  readonly newest: number
  /** Age in milliseconds up to which a revision is kept … */
  readonly ageMs: number
  /** … as long as there are no more than this. */
  readonly revisions: number
}

/** Retention that has no other limits: 20, 30 days, 100. */
export const retentionLimits: RetentionLimits = { newest: 20, ageMs: 30 * 24 * 3_600_000,
  revisions: 100 }

/**
 * The revisions to remove, in any order. A revision stays while a pointer, a roll-out, a run or a
 * waiting thread has it, among the newest, and while it is young. Uploads go when they expire.
 */
export function revisionsToRemove<Each extends Revision>(deployment: Deployment,
  revisions: readonly Each[], use: ReadonlyMap<string, RevisionUse>, nowMs: number,
  limits: RetentionLimits = retentionLimits): readonly Each[] {
  const isUsed = ({ running, waitingThreads }: RevisionUse) => running > 0 || waitingThreads > 0
  const isNeeded = ({ name }: Each) =>
    pointsTo(deployment, name) || isUsed(use.get(name) ?? { running: 0, waitingThreads: 0 })
  const present = revisions.filter(({ state }) => state !== 'removed')
  const expired = present.filter((each) => isExpired(each, nowMs) && !isNeeded(each))
  const kept = present.filter((each) => !expired.includes(each))
    .toSorted((one, other) => other.number - one.number)
  const old = kept.filter((each, place) =>
    !isNeeded(each) && place >= limits.newest &&
    (place >= limits.revisions || lastUsedMs(each) <= nowMs - limits.ageMs)
  )
  return [...expired, ...old]
}

function isExpired({ state, expiresAtMs }: Revision, nowMs: number): boolean {
  return (state === 'uploading' || state === 'building') && expiresAtMs !== null &&
    expiresAtMs <= nowMs
}

function lastUsedMs({ createdAtMs, activeAtMs }: Revision): number {
  return Math.max(createdAtMs, activeAtMs ?? 0)
}
