/** Owner of each shard, and its epoch, as far as this member knows. */

import type { Member } from '../member.ts'
import type { MembershipView } from '../membership/membership.ts'
import { placeShard } from './placement.ts'

/** The member that owns a shard, and since when. */
export interface Owner {
  readonly member: Member
  /** Grows with each change of owner, and with each start of a lone member. */
  readonly epoch: number
}

/** The owners of all shards, as one member knows them. */
export interface Ownership {
  readonly shards: number
  readonly self: Member
  /** Undefined if no owner is known right now. */
  ownerOf(shard: number): Owner | undefined
  /** Resolves when an answer of `ownerOf` may have changed. */
  changed(): Promise<void>
  /** Takes an owner named by another member, if its epoch is higher. */
  learn(shard: number, owner: Owner): void
  /** The owner that `ownerOf` names cannot be reached, or says that it is not the owner. */
  doubt(shard: number): void
}

/** The members, and the number of their shards. */
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
  const owners = Array.from({ length: shards },
    (_, shard): Owner => ({ member: placeShard(shard, view.members), epoch }))
  return {
    shards,
    self: view.self,
    ownerOf: (shard) => owners[shard]!,
    changed: () => new Promise(() => {}),
    learn: () => {},
    doubt: () => {},
  }
}
