/** Who owns each shard, as the one arbiter keeps it. */

export interface ShardOwner {
  readonly shard: number
  readonly epoch: number
  /** Null where the last owner gave it back. */
  readonly session: string | null
  /** Where the session answered when it claimed the shard. */
  readonly address: string
}

/** From what was read to what shall be: the epoch grows. */
export interface Claim {
  /** Undefined where nobody has owned the shard yet. */
  readonly from: ShardOwner | undefined
  readonly to: ShardOwner
}

/**
 * claimed  the shard is owned as `to` says
 * refused  nothing changed: somebody owns it as `found` says
 * unknown  it was claimed, or was not, or will be in a moment
 */
export type ClaimOutcome =
  | { readonly kind: 'claimed' }
  | { readonly kind: 'refused'; readonly found: ShardOwner | undefined }
  | { readonly kind: 'unknown' }

export interface ShardPort {
  /** Those that were ever owned, as a quorum says: a hint for what to claim from. */
  owners(): Promise<readonly ShardOwner[]>
  /** One of them; undefined where it was never owned. */
  owner(shard: number): Promise<ShardOwner | undefined>
  /** One compare and set. Throws `unavailable` where nothing was tried. */
  claim(claim: Claim): Promise<ClaimOutcome>
}
