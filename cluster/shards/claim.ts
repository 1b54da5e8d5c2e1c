/**
 * Claim of a shard: by compare and set against its last owner.
 *
 *   1. A shard is claimed if it has no owner, if its owner gave it back, or if the end of the
 *      owner's session was proven to this very claimant. Never from a session that may live.
 *   2. Each try has an epoch that no earlier try had, and only a clear `claimed` counts: after an
 *      unknown outcome the shard is claimed again, from oneself if the first try came through.
 *
 * It is given back the same way, to no owner, in the epoch in which it was owned.
 *
 * Rule: [fence].
 */

import { ClusterError } from '../errors.ts'
import { Backoff } from '../flow/backoff.ts'
import { limitConcurrency } from '../flow/limit-concurrency.ts'
import type { Member } from '../member.ts'
import type { Env } from '../runtime/env.ts'
import type { ClaimChange, ClaimOutcome, ShardClaim, ShardPort } from './shard-port.ts'

/** The claiming member, the store of claims, and the proof that another session has ended. */
export interface ClaimOptions {
  readonly env: Env
  readonly self: Member
  readonly shardOwners: Pick<ShardPort, 'claim'>
  /** True if it is proven to this member that the session has ended; false if it lives. */
  ended(owner: Member): Promise<boolean>
}

/** Compare-and-sets under way at once: a slow store must answer each before its time is up. */
const changesAtOnce = 16
/** After this many tries, the store must be broken. */
const triesMax = 20
/** Pauses between tries: a store that is too busy to answer needs rest. */
const pauses = { firstMs: 50, longestMs: 1_000 }

/**
 * The same, for claims of many shards at once. The limit is on changes, not on claims: one that
 * pauses between its tries keeps no other one waiting.
 */
export function fewAtOnce(shardOwners: Pick<ShardPort, 'claim'>): Pick<ShardPort, 'claim'> {
  const limited = limitConcurrency(changesAtOnce)
  return { claim: (claim) => limited(() => shardOwners.claim(claim)) }
}

/** The owner after the claim: this member, or another that lives and has not given it back. */
export async function claimShard(options: ClaimOptions, shard: number,
  known: ShardClaim | undefined): Promise<ShardClaim> {
  const { env, self, shardOwners, ended } = options
  let claim = firstClaim(self, shard, known)
  const backoff = new Backoff(env, pauses)
  let cause: unknown
  for (let tries = 1; tries <= triesMax; tries++) {
    const other = ownerBeside(self, claim.from)
    if (other !== undefined && !await ended(other)) return claim.from!
    const outcome = await shardOwners.claim(claim)
    if (outcome.kind === 'claimed') return claim.to
    if (outcome.kind === 'unknown') {
      cause = outcome.cause
      await backoff.pause()
    }
    claim = nextClaim(claim, outcome)
  }
  throw new ClusterError('unavailable', `Shard ${shard} could not be claimed: the store does not ` +
    'tell what became of it.', {}, { cause })
}

/**
 * Resolves with the owner when it certainly is no longer this member; undefined if that was still
 * not known when `hasEnded` said that the caller has gone.
 */
export async function giveBackShard({ env, shardOwners }: Omit<ClaimOptions, 'ended' | 'self'>,
  owned: ShardClaim, hasEnded: () => boolean): Promise<ShardClaim | undefined> {
  const free = { ...owned, session: null }
  const backoff = new Backoff(env, pauses)
  while (!hasEnded()) {
    const outcome = await shardOwners.claim({ from: owned, to: free })
      .catch((cause: unknown): ClaimOutcome => ({ kind: 'unknown', cause }))
    if (outcome.kind === 'claimed') return free
    if (outcome.kind === 'refused' && outcome.found?.session !== owned.session) {
      return outcome.found ?? free
    }
    await backoff.pause()
  }
  return undefined
}

/** The other member that owns it; undefined if it has none, or this member owns it. */
function ownerBeside(self: Member, owner: ShardClaim | undefined): Member | undefined {
  if (owner === undefined || owner.session === null || owner.session === self.id) return undefined
  return { id: owner.session, address: owner.address }
}

function firstClaim(self: Member, shard: number, from: ShardClaim | undefined): ClaimChange {
  const epoch = (from?.epoch ?? 0) + 1
  return { from, to: { shard, epoch, session: self.id, address: self.address } }
}

/** Next claim to try after one that was refused or whose outcome is not known. */
function nextClaim({ from, to }: ClaimChange,
  outcome: Exclude<ClaimOutcome, { kind: 'claimed' }>): ClaimChange {
  const found = outcome.kind === 'refused' ? outcome.found : from
  const epoch = Math.max(to.epoch, found?.epoch ?? 0) + 1
  return { from: found, to: { ...to, epoch } }
}
