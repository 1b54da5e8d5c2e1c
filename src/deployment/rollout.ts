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

/** Progress of a member in a roll-out. */
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
  /** The pointer before the roll-out, to which a watch goes back. */
  readonly from: string | null
  /** The share of new runs that the revision gets: 100 for all. */
  readonly percent: number
  /** Runs under way move with the pointer; missing if they do not. */
  readonly now?: boolean
  readonly envVersion: number
  /** Secrets that are loaded with the revision; missing if a program before sets began it. */
  readonly secrets?: SecretSet
  /** True if these secrets differ from the loaded ones; missing if they do not. */
  readonly takesSecrets?: boolean
  /** Kept changes that are among these secrets, or that newer changes have replaced. */
  readonly keptThen?: SecretSet
  /** Secrets that were loaded before the roll-out, to which a watch goes back. */
  readonly secretsBefore?: SecretSet
  readonly phase: RolloutPhase
  readonly members: readonly MemberProgress[]
  readonly startedAtMs: number
  /** When this phase began. */
  readonly phaseAtMs: number
  /** Milliseconds for which ended runs are watched; 0 for no watch. */
  readonly watchMs: number
  /** Milliseconds that all members may take to load. */
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
  /** Reason in one sentence, for a result other than `done`. */
  readonly reason: string | null
  readonly failures: readonly GraphFailure[]
  readonly startedAtMs: number
  readonly endedAtMs: number
}
