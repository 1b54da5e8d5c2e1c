/** The member that should own a shard: all members compute the same one from the same view. */

import { assert } from '../errors.ts'
import type { Member } from '../member.ts'
import { hashText } from './hash.ts'

/**
 * Rendezvous hashing: the member whose hash with the shard is highest. When a member comes or goes
 * only the shards move that it gains or leaves, and no order of the members matters.
 */
export function placeShard(shard: number, members: readonly Member[]): Member {
  const placed = members.toSorted((a, b) => weight(shard, b) - weight(shard, a) || order(a, b))[0]
  assert(placed !== undefined, 'a view has at least one member')
  return placed
}

function weight(shard: number, member: Member): number {
  return hashText(`${member.id}\n${shard}`)
}

function order(a: Member, b: Member): number {
  return a.id < b.id ? -1 : 1
}
