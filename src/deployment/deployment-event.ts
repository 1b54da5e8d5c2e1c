/** Events of a deployment: the audit log, and what a client that follows a roll-out is shown. */

/**
 * deployment  it was made or changed
 * revision    a revision changed its state
 * report      what a check found: nodes that are gone, and the threads that wait there
 * rollout     a roll-out began, went on to its next phase, or ended
 * member      a member is ready or has confirmed
 * pointer     another revision is active
 * secret      a secret was set or removed; its name only
 * build       a line of a build
 */
export type DeploymentEventKind = 'deployment' | 'revision' | 'report' | 'rollout' | 'member'
  | 'pointer' | 'secret' | 'build'

/** An event before it is noted. */
export interface NewEvent {
  readonly kind: DeploymentEventKind
  /** Id of the key or user that caused it, or `local` or `heddle`. */
  readonly by: string
  /** Plain JSON. */
  readonly data: Readonly<Record<string, unknown>>
}

/** An event of a roll-out that is in the record of its deployment until it is noted. */
export interface OwedEvent extends NewEvent {
  /** Number that grows with each owed event. Events up to the last noted mark are noted already. */
  readonly mark: number
}

/** An event as it was noted. */
export interface DeploymentEvent extends NewEvent {
  /** Counts the events of its deployment, from 1. Some numbers may be missing. */
  readonly seq: number
  readonly atMs: number
}
