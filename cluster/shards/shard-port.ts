/**
 * The claims of all shards, as the one arbiter keeps them.
 *
 * Placement says who should own a shard, the owner is who does, and the claim is the record that
 * gives ownership.
 */

/** The record that gives ownership of one shard. Its epoch grows with each new owner. */
export interface ShardClaim {
  readonly shard: number
  readonly epoch: number
  /** Null if the last owner gave it back. */
  readonly session: string | null
  /** Address at which the session answered when it claimed the shard. */
  readonly address: string
}

/** A compare and set of one claim. A shard is given back in the epoch in which it was owned. */
export interface ClaimChange {
  /** Claim that must be stored for the change to apply; undefined: the shard never had an owner. */
  readonly from: ShardClaim | undefined
  readonly to: ShardClaim
}

/**
 * claimed  the shard is owned as `to` says
 * refused  nothing changed: the owner is that in `found`
 * unknown  it was claimed, or was not, or will be in a moment; `cause` is for the log
 */
export type ClaimOutcome =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'refused'; readonly found: ShardClaim | undefined }
  | { readonly kind: 'unknown'; readonly cause?: unknown }

/** The owners of all shards, with a compare and set for each. */
export interface ShardPort {
  /** Claims of all shards that were ever owned, as a quorum says: hints for the next claims. */
  owners(): Promise<readonly ShardClaim[]>
  /** Claim of one shard; undefined if it was never owned. */
  owner(shard: number): Promise<ShardClaim | undefined>
  /** One compare and set. Throws `unavailable` if nothing was tried. */
  claim(change: ClaimChange): Promise<ClaimOutcome>
}
