/** Heartbeats that members leave for each other: hints, never proof that a member has ended. */

import type { Member } from '../member.ts'

/** The sign of life that a member leaves about once a second. */
export interface Heartbeat extends Member {
  /** Different each time. */
  readonly count: number
  /** It takes no more shards, and gives back those that it has. */
  readonly leaving: boolean
}

/** The heartbeats of all members. Reads and writes may lose some. */
export interface HeartbeatPort {
  /** Replaces the last heartbeat of that member. */
  heartbeat(heartbeat: Heartbeat): Promise<void>
  /** The newest heartbeat of each member that left one in the last minutes. */
  heartbeats(): Promise<readonly Heartbeat[]>
  /** Removes the heartbeat of a member that has ended. */
  forget(member: string): Promise<void>
}
