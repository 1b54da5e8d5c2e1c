/** Calls of members by a roll-out: to load a revision, to learn of a change, to count runs. */

import type { GraphDescription } from '../../graph/index.ts'
import type { GraphFailure } from '../revision.ts'
import type { SecretSet } from '../secret-set.ts'

/** A revision that a member is to load. */
export interface PrepareRequest {
  /** The deployment's name. */
  readonly deployment: string
  readonly revision: string
  readonly envVersion: number
  /** The secrets to load it with; missing for those that were loaded last. */
  readonly secrets?: SecretSet
  /** Milliseconds after which the caller does not wait any more. */
  readonly withinMs?: number
}

/** Result of loading a revision on a member. */
export type Prepared =
  | { readonly kind: 'ready'; readonly ms: number; readonly graphs: readonly GraphDescription[] }
  /** The revision can never be loaded. */
  | { readonly kind: 'refused'; readonly reason: string;
    readonly failures: readonly GraphFailure[] }

/** Runs of a revision that ended on a member, and graph processes that died, since its start. */
export interface RevisionTally {
  readonly ended: number
  readonly failed: number
  readonly deaths: number
}

/** The members of the cluster. A call rejects if the member does not answer. */
export interface RolloutMembers {
  /** Ids of those that execute runs and are alive, this one among them. */
  live(): readonly string[]
  prepare(member: string, options: PrepareRequest): Promise<Prepared>
  /** Resolves when the member has read the deployment anew: what it starts then is newest. */
  learn(member: string, deployment: string): Promise<void>
  tally(member: string, options: PrepareRequest): Promise<RevisionTally>
  /** Lets the member that drives roll-outs look at a deployment. The call may be lost. */
  wake(deployment: string): Promise<void>
}
