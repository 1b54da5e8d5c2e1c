/** Heartbeats that members leave for each other: hints, never proof that a member is over. */

import type { Member } from './member.ts'

export interface Beat extends Member {
  /** Different each time. */
  readonly count: number
  /** It takes no more shards, and gives back those that it has. */
  readonly leaving: boolean
}

export interface BeatPort {
  beat(beat: Beat): Promise<void>
  /** The newest beat of each member that left one in the last minutes. */
  beats(): Promise<readonly Beat[]>
  /** For a member that is over. */
  forget(member: string): Promise<void>
}
