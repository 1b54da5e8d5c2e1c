/** Choice of the graph processes that a member keeps, and of those that go first. Pure. */

import type { Deployment } from '../deployment.ts'

/** Role of a revision in its deployment. */
export type RevisionUse = 'pointer' | 'previous' | 'other'

/**
 * Milliseconds after which idle processes end. That of the previous revision is kept so that a
 * rollback loads nothing. Any other was checked, and may become active soon.
 */
const idleMs: Readonly<Record<RevisionUse, number>> = { pointer: 10 * 60_000, previous: 15 * 60_000,
  other: 2 * 60_000 }

/** A graph process as the decisions here see it. */
export interface ProcessUse {
  readonly envVersion: number
  /** The deployment's share of runs that are recorded, when it was started. */
  readonly record: string | null
  readonly isReady: boolean
  /** True while nothing is executed, asked or prepared in it. */
  readonly isIdle: boolean
  readonly lastUsedMs: number
}

/** Role of a revision now; undefined without a deployment. */
export function useOf(deployment: Deployment | undefined, revision: string):
  | RevisionUse
  | undefined {
  if (deployment === undefined || deployment.removing) return undefined
  const { active, next, previous, rollout, preview } = deployment
  if ([active, next?.revision, rollout?.revision].includes(revision)) return 'pointer'
  // A preview is for few: a rollback may load.
  return previous === revision && preview === null ? 'previous' : 'other'
}

/** True if the process ends now. One without a role in its deployment is kept only briefly. */
export function isOverdue({ isIdle, lastUsedMs }: ProcessUse, use: RevisionUse | undefined,
  nowMs: number): boolean {
  return isIdle && (use === undefined || nowMs - lastUsedMs >= idleMs[use])
}

/** Secrets and recording that a deployment wants its processes to have. */
export type WantedStart = Pick<ProcessUse, 'envVersion' | 'record'>

/**
 * True if the process takes nothing new: another one of its revision has newer secrets, and these
 * are the deployment's; or it has the same ones, and the recording that the deployment wants.
 */
export function isSuperseded(process: ProcessUse, siblings: Iterable<ProcessUse>,
  wanted: WantedStart): boolean {
  const hasOldSecrets = process.envVersion < wanted.envVersion
  const recordsOtherwise = process.envVersion === wanted.envVersion
    && process.record !== wanted.record
  return (hasOldSecrets || recordsOtherwise) &&
    [...siblings].some(({ isReady, envVersion, record }) =>
      isReady && envVersion >= wanted.envVersion && (hasOldSecrets || record === wanted.record)
    )
}

/**
 * The process that new work takes: one that has the deployment's secrets, the oldest of these, as
 * newer secrets are only prepared; undefined if there is none.
 */
export function choose<Process extends ProcessUse>(processes: Iterable<Process>, wanted: number):
  | Process
  | undefined {
  return [...processes].filter(({ envVersion }) => envVersion >= wanted)
    .toSorted((one, other) => one.envVersion - other.envVersion)[0]
}

const ranks: Readonly<Record<RevisionUse, number>> = { other: 1, previous: 2, pointer: 3 }

/** The idle process whose loss costs least; undefined if all have work. */
export function firstToGo<Process extends ProcessUse>(
  processes: readonly { readonly process: Process; readonly use: RevisionUse | undefined }[],
): Process | undefined {
  const rank = (use: RevisionUse | undefined) => use === undefined ? 0 : ranks[use]
  return processes.filter(({ process }) => process.isIdle)
    .toSorted((one, other) =>
      rank(one.use) - rank(other.use)
      || one.process.lastUsedMs - other.process.lastUsedMs
    )[0]?.process
}
