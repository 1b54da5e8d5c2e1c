/** Who owns each shard, as the one arbiter keeps it. */

export interface ShardOwner {
  readonly shard: number
  readonly epoch: number
  /** Null if the last owner gave it back. */
  readonly session: string | null
  /** Where the session answered when it claimed the shard. */
  readonly address: string
}

/** A change from the owner that was read to a new one, with a higher epoch. */
export interface Claim {
  /** Undefined if nobody has owned the shard yet. */
  readonly from: ShardOwner | undefined
  readonly to: ShardOwner
}

/**
 * claimed  the shard is owned as `to` says
 * refused  nothing changed: the owner is that in `found`
 * unknown  it was claimed, or was not, or will be in a moment; `cause` is for the log
 */
export type ClaimOutcome =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'refused'; readonly found: ShardOwner | undefined }
  | { readonly kind: 'unknown'; readonly cause?: unknown }

export interface ShardPort {
  /** Of all shards that were ever owned, as a quorum says: hints for what to claim from. */
  owners(): Promise<readonly ShardOwner[]>
  /** Of one shard; undefined if it was never owned. */
  owner(shard: number): Promise<ShardOwner | undefined>
  /** One compare and set. Throws `unavailable` if nothing was tried. */
  claim(claim: Claim): Promise<ClaimOutcome>
}
