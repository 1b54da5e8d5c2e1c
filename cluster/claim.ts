/**
 * How a member makes shards its own: one compare and set each, on from whoever owned it before.
 *
 *   1. A shard is claimed from nobody, from whoever gave it back, or from a session whose end was
 *      proven to this very claimant. Never from one that may live.
 *   2. Each try has an epoch that no try before it had, and only a clean `claimed` counts: after an
 *      unknown outcome the shard is claimed again, from oneself where the first try came through.
 *   3. Shard 0 comes before all others. Of members that start at once one gets it; the others find
 *      him there before they have taken anything from anybody.
 */

import { HeddleError } from '../src/errors.ts'
import type { Env } from './env.ts'
import type { Member } from './member.ts'
import type { Claim, ClaimOutcome, ShardOwner, ShardPort } from './shard-port.ts'

export interface ClaimOptions {
  readonly env: Env
  readonly self: Member
  readonly shardOwners: ShardPort
  readonly shards: number
  /** What was read of the owners; it may be old. */
  readonly known: readonly ShardOwner[]
  /** Resolves when it is proven that the session of this member is over; throws where it lives. */
  ended(owner: Member): Promise<void>
}

/** Claims under way at once. */
const claimsAtOnce = 16

/** Whoever has to ask so often meets a store that does not work. */
const triesMax = 20
const pauseMs = 50

/** The epoch of each shard, all of them claimed. After a throw nothing is under way any more. */
export async function claimShards(options: ClaimOptions): Promise<readonly number[]> {
  const { self, shards, known } = options
  const owners = new Map(known.map((owner) => [owner.shard, owner]))
  const epochs: number[] = []
  const claim = async (shard: number) => {
    epochs[shard] = await claimShard(options, firstClaim(self, shard, owners.get(shard)))
  }
  await claim(0)
  let next = 1
  const claimOn = async () => {
    while (next < shards) {
      await claim(next++).catch((error: unknown) => {
        next = shards
        throw error
      })
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: claimsAtOnce }, claimOn))
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason
  return epochs
}

async function claimShard(options: ClaimOptions, first: Claim): Promise<number> {
  const { env, self, shardOwners, ended } = options
  let claim = first
  for (let tries = 1; tries <= triesMax; tries++) {
    const other = ownerBeside(self, claim.from)
    if (other !== undefined) await ended(other)
    const outcome = await shardOwners.claim(claim)
    if (outcome.kind === 'claimed') return claim.to.epoch
    if (outcome.kind === 'unknown') await new Promise<void>((done) => env.after(pauseMs, done))
    claim = nextClaim(claim, outcome)
  }
  throw new HeddleError('unavailable', `Shard ${first.to.shard} could not be claimed: the store ` +
    'does not tell what became of it.')
}

/** The other member that owns it; undefined where nobody does, or oneself. */
export function ownerBeside(self: Member, owner: ShardOwner | undefined): Member | undefined {
  if (owner === undefined || owner.session === null || owner.session === self.id) return undefined
  return { id: owner.session, address: owner.address }
}

function firstClaim(self: Member, shard: number, from: ShardOwner | undefined): Claim {
  const epoch = (from?.epoch ?? 0) + 1
  return { from, to: { shard, epoch, session: self.id, address: self.address } }
}

/** What to try when `claim` did not come through, or may not have. */
function nextClaim({ from, to }: Claim, outcome: Exclude<ClaimOutcome, { kind: 'claimed' }>):
Claim {
  const found = outcome.kind === 'refused' ? outcome.found : from
  const epoch = Math.max(to.epoch, found?.epoch ?? 0) + 1
  return { from: found, to: { ...to, epoch } }
}
