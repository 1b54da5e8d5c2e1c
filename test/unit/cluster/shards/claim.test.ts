/** Claiming a shard and giving it back: from whom it is taken, and unclear outcomes. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { ClaimOutcome, Member, ShardClaim } from '../../../../cluster/index.ts'
import { claimShard, fewAtOnce, giveBackShard } from '../../../../cluster/shards/claim.ts'
import { virtualEnv } from '../../../support/env.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { Arbiter, plain, playing, settle } from '../membership/arbiter.ts'
import type { Fate } from '../membership/arbiter.ts'

const white: Member = { id: 'white', address: 'board:1' }
const black: Member = { id: 'black', address: 'board:2' }
const owner = (epoch: number, session: string | null): ShardClaim => ({ shard: 0, epoch, session,
  address: 'board:1' })

/** One shard, and members that claim it. */
function table({ fate = plain, lives = () => false }: {
  readonly fate?: Fate
  readonly lives?: (member: Member) => boolean
} = {}) {
  const env = virtualEnv()
  const arbiter = new Arbiter(fate)
  const ended = async (member: Member) => {
    if (lives(member)) return false
    await arbiter.sessions.fence(member.id)
    return true
  }
  const { shardOwners } = arbiter
  const claim = (self: Member, known?: ShardClaim) =>
    claimShard({ env, self, shardOwners, ended }, 0, known)
  const giveBack = (owned: ShardClaim) => giveBackShard({ env, shardOwners }, owned, () => false)
  return { env, arbiter, claim, giveBack }
}

/** Lets the pauses between tries pass. */
async function rest(env: { advance(ms: number): void }, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await settle()
    env.advance(50)
  }
  await settle()
}

describe('a claim', () => {
  it('takes a free shard in epoch 1, and one that was given back in the next', async () => {
    const { arbiter, claim, giveBack } = table()
    const first = await claim(white)
    expect(first).toEqual({ shard: 0, epoch: 1, session: 'white', address: 'board:1' })
    expect(await giveBack(first)).toEqual({ ...first, session: null })
    expect(await claim(black)).toMatchObject({ epoch: 2, session: 'black' })
    expect(arbiter.violations).toEqual([])
  })

  it('is not tried on a live owner, and names it', async () => {
    const { arbiter, claim } = table({ lives: () => true })
    arbiter.plant(white, 1, 7)
    const found = arbiter.owner(0)
    expect(await claim(black, found)).toBe(found)
    expect(await claim(black)).toEqual(found)
    expect(arbiter.history).toEqual([])
  })

  it('takes a shard from an owner whose end is proven, whatever was known before', async () => {
    const { arbiter, claim } = table()
    arbiter.plant(white, 1, 7)
    expect(await claim(black, owner(3, 'somebody'))).toMatchObject({ epoch: 8, session: 'black' })
    expect([arbiter.alive('white'), arbiter.violations]).toEqual([false, []])
  })

  it('is repeated until the outcome is clear, each time in a new epoch', async () => {
    const outcomes = ['lost', 'done unheard', 'clear'] as const
    let claims = 0
    const { env, arbiter, claim } = table({
      fate: { ...plain, outcome: () => outcomes[claims++] ?? 'clear' },
    })
    arbiter.plant(white, 1, 7)
    const claiming = claim(black, arbiter.owner(0))
    await rest(env, 5)
    // 8 was lost, 9 was done unheard, 10 was refused and shown 9, 11 is clear.
    expect((await claiming).epoch).toBe(11)
    expect(arbiter.history.map(({ epoch }) => epoch)).toEqual([9, 11])
  })

  it('is tried less and less often while the outcome stays unknown, and in the end given up',
    async () => {
      const atMs: number[] = []
      const { env, claim } = table({ fate: { ...plain, outcome: () => {
        atMs.push(env.monotonicMs())
        return 'lost'
      } } })
      const claiming = claim(white).catch((error: unknown) => error)
      await rest(env, 350)
      expect(await claiming).toMatchObject({ code: 'unavailable' })
      expect(env.timers()).toBe(0)
      const pausesMs = atMs.slice(1).map((ms, at) => ms - atMs[at]!)
      expect(pausesMs).toEqual([50, 100, 200, 400, 800, ...Array(14).fill(1_000)])
    })
})

describe('claims of many shards', () => {
  it('ask the store for sixteen changes at once, and none waits for the pauses of another',
    async () => {
      const env = virtualEnv()
      const arbiter = new Arbiter(plain)
      let [underWay, most, changes] = [0, 0, 0]
      const shardOwners = fewAtOnce({ claim: async (claim): Promise<ClaimOutcome> => {
        most = Math.max(most, ++underWay)
        changes++
        await settle()
        underWay--
        return claim.to.shard < 40 ? { kind: 'unknown' } : arbiter.shardOwners.claim(claim)
      } })
      const claims = Array.from({ length: 50 }, (_, shard) =>
        claimShard(
          { env, self: white, shardOwners, ended: async () => true },
          shard,
          undefined,
        ))
      const paused = Promise.allSettled(claims.slice(0, 40))
      expect((await Promise.all(claims.slice(40))).map(({ session }) => session))
        .toEqual(Array(10).fill('white'))
      expect([most, changes]).toEqual([16, 50])
      await rest(env, 400)
      expect((await paused).every(({ status }) => status === 'rejected')).toBe(true)
    })
})

describe('giving a shard back', () => {
  it('is repeated until the outcome is known', async () => {
    const outcomes = ['clear', 'lost', 'done unheard'] as const
    let claims = 0
    const { env, arbiter, claim, giveBack } = table({
      fate: { ...plain, outcome: () => outcomes[claims++] ?? 'clear' },
    })
    const owned = await claim(white)
    const giving = giveBack(owned)
    await rest(env, 4)
    expect(await giving).toEqual({ ...owned, session: null })
    expect(arbiter.owner(0)).toEqual({ ...owned, session: null })
  })

  it('is repeated if the store fails, or still names this member', async () => {
    const env = virtualEnv()
    const owned = owner(7, 'white')
    const outcomes: (() => Promise<ClaimOutcome>)[] = [
      () => Promise.reject(new Error('no quorum')),
      async () => ({ kind: 'refused', found: owned }),
      async () => ({ kind: 'claimed' }),
    ]
    const shardOwners = { claim: () => outcomes.shift()!() }
    const giving = giveBackShard({ env, shardOwners }, owned, () => false)
    await rest(env, 3)
    expect(await giving).toEqual({ ...owned, session: null })
    expect(outcomes).toEqual([])
  })

  it('changes nothing if another member owns the shard by now', async () => {
    const { arbiter, claim, giveBack } = table()
    const owned = await claim(white)
    arbiter.end('white')
    const next = await claim(black)
    expect(await giveBack(owned)).toEqual(next)
    expect(arbiter.owner(0)).toEqual(next)
  })
})

describe('members that race for a shard', () => {
  it('have one owner per epoch, growing epochs, and take nothing from a live owner', async () => {
    await expectAlways(fc.asyncProperty(playing, async (seed) => {
      const fate = seed.fate()
      const { env, arbiter, claim, giveBack } = table({ fate,
        lives: ({ id }) => id !== 'old' && arbiter.alive(id) })
      arbiter.plant({ id: 'old', address: 'board:9' }, 1, 3)
      for (const member of [white, black]) await seed.play(env, arbiter.sessions.join(member))
      const turns = [white, black].map(async (self) => {
        const got = await claim(self, fate.flip() ? arbiter.owner(0) : undefined)
        if (got.session === self.id && fate.flip()) await giveBack(got)
        return got
      })
      const all = await seed.play(env, Promise.allSettled(turns))
      const epochs = arbiter.history.filter(({ session }) => session !== null)
        .map(({ epoch }) => epoch)
      expect(arbiter.violations).toEqual([])
      expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b))
      for (const one of all) {
        if (one.status === 'fulfilled') expect(one.value.epoch).toBeGreaterThan(2)
      }
    }), { share: 10 })
  })
})
