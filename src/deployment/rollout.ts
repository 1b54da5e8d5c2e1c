/** A roll-out: how a deployment gets from one revision, or set of secrets, to the next. */

import type { GraphFailure } from './revision.ts'
import type { SecretSet } from './secret-set.ts'

/**
 * check     loads a revision on one member, and moves nothing
 * activate  makes a revision the one that new runs take, or gives it a share of them
 * rollback  makes an earlier one active again
 * secrets   starts fresh processes of the active revision, with changed secrets
 */
export type RolloutKind = 'check' | 'activate' | 'rollback' | 'secrets'

/**
 * preparing   members load the revision; the pointer stands
 * confirming  the pointer has moved, and members learn of it
 * watching    ended runs are counted; many errors move the pointer back
 */
export type RolloutPhase = 'preparing' | 'confirming' | 'watching'

/**
 * waiting    it has not answered yet
 * ready      it has loaded the revision
 * confirmed  it starts new runs on the revision
 * silent     it did not answer in time, and was left out because it was fenced or slow to confirm
 */
export type MemberState = 'waiting' | 'ready' | 'confirmed' | 'silent'

/** How far a member is. */
export interface MemberProgress {
  readonly id: string
  readonly state: MemberState
  /** Milliseconds that loading took, or that passed until it confirmed. */
  readonly ms: number | null
}

/** A roll-out that is under way. Times are milliseconds since 1970. */
export interface Rollout {
  readonly id: string
  readonly kind: RolloutKind
  readonly revision: string
  /** The pointer before: where a watch goes back to. */
  readonly from: string | null
  /** The share of new runs that the revision gets: 100 for all. */
  readonly percent: number
  /** Runs under way move with the pointer; missing if they do not. */
  readonly now?: boolean
  readonly envVersion: number
  /** What is loaded with the revision; missing if a program before sets began it. */
  readonly secrets?: SecretSet
  /** True if that is not what is loaded now; missing if it is. */
  readonly takesSecrets?: boolean
  /** The kept changes that are among them, or that others have replaced. */
  readonly keptThen?: SecretSet
  /** What was loaded then: where a watch goes back to. */
  readonly secretsBefore?: SecretSet
  readonly phase: RolloutPhase
  readonly members: readonly MemberProgress[]
  readonly startedAtMs: number
  /** When this phase began. */
  readonly phaseAtMs: number
  /** How long ended runs are watched; 0 for not at all. */
  readonly watchMs: number
  /** How long all may take to load. */
  readonly prepareMs: number
  readonly by: string
  readonly message: string
}

/**
 * done         the pointer has moved, or the check found nothing wrong
 * refused      a member cannot load the revision; the pointer stands
 * failed       a member did not answer in time; the pointer stands
 * rolled_back  the watch saw too many errors or dead processes, and moved the pointer back
 */
export type RolloutResult = 'done' | 'refused' | 'failed' | 'rolled_back'

/** A roll-out that has ended. */
export interface RolloutOutcome
  extends Pick<Rollout, 'id' | 'kind' | 'revision' | 'from' | 'percent' | 'members' | 'by'> {
  readonly result: RolloutResult
  /** A sentence if it is not `done`. */
  readonly reason: string | null
  readonly failures: readonly GraphFailure[]
  readonly startedAtMs: number
  readonly endedAtMs: number
}
