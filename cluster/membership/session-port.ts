/** The sessions of all members, as the one arbiter keeps them. */

import type { Member } from '../member.ts'

/**
 * alive   it may own shards and acknowledge
 * fenced  another member ended it: it may acknowledge nothing any more
 * left    it ended itself, with nothing under way
 */
export type SessionState = 'alive' | 'fenced' | 'left'

/** A session is one life of a member: its id is the member's id and is never used again. */
export interface SessionPort {
  /** Resolves when the session is alive. */
  join(member: Member): Promise<void>
  /**
   * The state that a quorum knows; undefined if there is no such session. An `alive` is true of a
   * moment after the call. Anything else may not be on a quorum yet: it is no proof for a claim.
   */
  state(session: string): Promise<SessionState | undefined>
  /**
   * Ends it unless it has ended, and tells how it ended. Resolves only when that is proven: no read
   * that begins after that says `alive`.
   */
  fence(session: string, by: string): Promise<'fenced' | 'left'>
  /** Resolves when it is `left`, or when another member fenced it before. */
  leave(session: string): Promise<void>
}
