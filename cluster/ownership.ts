/** Who does own each shard, and since which epoch: as far as this member knows. */

import type { Member } from './member.ts'
import type { MembershipView } from './membership.ts'
import { placeShard } from './placement.ts'

export interface Owner {
  readonly member: Member
  /** Grows with each change of owner, and with each start of a lone member. */
  readonly epoch: number
}

export interface Ownership {
  readonly shards: number
  readonly self: Member
  ownerOf(shard: number): Owner
}

export interface PlacedOwnershipOptions {
  readonly view: MembershipView
  readonly shards: number
  /** Greater than that of any earlier life of these members. */
  readonly epoch: number
}

/**
 * Each shard is owned by the member where it is placed, all from the same epoch. True only while
 * the view cannot change: for a cluster of one, whose store hands the epoch to one process.
 */
export function placedOwnership({ view, shards, epoch }: PlacedOwnershipOptions): Ownership {
  const owners = Array.from({ length: shards }, (_, shard): Owner =>
    ({ member: placeShard(shard, view.members), epoch }))
  return { shards, self: view.self, ownerOf: (shard) => owners[shard]! }
}

export interface ClaimedOwnershipOptions {
  readonly self: Member
  /** Of each shard, all of them claimed by `self`. */
  readonly epochs: readonly number[]
}

/** Every shard is owned by one member, each from an epoch of its own. */
export function claimedOwnership({ self, epochs }: ClaimedOwnershipOptions): Ownership {
  const owners = epochs.map((epoch): Owner => ({ member: self, epoch }))
  return { shards: epochs.length, self, ownerOf: (shard) => owners[shard]! }
}
