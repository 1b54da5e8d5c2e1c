/** Members of the cluster, as one of them sees it. A view is replaced, never changed. */

import type { Member } from '../member.ts'

/** The members that one member knows of, itself included. */
export interface MembershipView {
  readonly self: Member
  /** Those that may own shards, without those that are about to leave. */
  readonly members: readonly Member[]
}

/** The view of a cluster of one. */
export function soleMember(self: Member): MembershipView {
  return Object.freeze({ self, members: Object.freeze([self]) })
}
