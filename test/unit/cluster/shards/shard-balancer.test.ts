/** The shards of a member: taken if placed here, release and given back if placed elsewhere. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Member } from '../../../../cluster/index.ts'
import { placeShard } from '../../../../cluster/shards/placement.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { plain, settle } from '../membership/arbiter.ts'
import type { Fate } from '../membership/arbiter.ts'
import { House, shards } from './balancers.ts'

const all = Array.from({ length: shards }, (_, shard) => shard)
const secondMs = 1_000

/** The shards that are placed at one of the members. */
const placedAt = (id: string, members: readonly Member[]) =>
  all.filter((shard) => placeShard(shard, members).id === id)

/** A member that has all shards. */
async function alone(received?: () => boolean) {
  const house = new House(plain, received)
  const white = await house.join('white')
  await white.start()
  return { house, white }
}

describe('a balancer of shards', () => {
  it('takes each shard once if it is alone', async () => {
    const { house, white } = await alone()
    await house.confirm(2 * secondMs)
    expect(house.owned(white)).toEqual(all)
    expect(white.seen.toSorted()).toEqual(all.map((shard) => `${shard} taken`))
  })

  it('gives back shards that are placed at another member, which takes them', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    await black.start()
    const members = house.seeAll()
    await house.confirm(100)
    const placed = (id: string) => all.filter((shard) => placeShard(shard, members).id === id)
    expect(house.owned(white)).toEqual(placed('white'))
    expect(house.owned(black)).toEqual(placed('black'))
    expect(placed('black').length).toBeGreaterThan(0)
    expect(house.early).toEqual([])
    for (const shard of placed('black')) {
      expect(white.balancer.ownerOf(shard)).toEqual({ member: black.self, epoch: 2 })
    }
  })

  it('gives back shards with occupied actors last, and names these actors', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    await black.start()
    const moving = placedAt('black', [white.self, black.self])
    const [first, ...others] = moving as [number, ...number[]]
    house.busy = new Set([first])
    house.seeAll()
    await house.confirm(secondMs)
    expect(others.length).toBeGreaterThan(0)
    expect(white.seen.filter((line) => line.endsWith('let go')))
      .toEqual([...others, first].map((shard) => `${shard} let go`))
    expect(black.received).toEqual([{ tenant: 'one', kind: 'thread', id: `${first}` }])
  })

  it('gives back shards with occupied actors first if it leaves', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    await black.start()
    const last = all.at(-1)!
    house.busy = new Set([last])
    house.seeAll(new Set(['white']))
    await house.confirm(secondMs)
    const gone = white.seen.filter((line) => line.endsWith('let go'))
    expect(gone).toHaveLength(shards)
    expect(gone[0]).toBe(`${last} let go`)
  })

  it('learns of occupied actors even after it read that their shard is free', async () => {
    const { house, white } = await alone(() => false)
    const black = await house.join('black')
    await black.start()
    const [moving] = placedAt('black', house.seeAll())
    await house.confirm(20)
    const inProgress = (id: string) => [{ tenant: 'one', kind: 'thread', id }]
    const free = house.arbiter.owner(moving!)!
    expect(free.session).toBeNull()
    black.balancer.handle([{ ...free, goingOn: inProgress('before') }])
    black.balancer.handle([free])
    await settle()
    expect(house.arbiter.owner(moving!)?.session).toBe('black')
    expect(black.received).toEqual(inProgress('before'))
    black.balancer.handle([{ ...free, goingOn: inProgress('after') }])
    expect(black.received).toEqual([...inProgress('before'), ...inProgress('after')])
    expect(white.received).toEqual([])
  })

  it('forgets the occupied actors of a shard that had another owner since', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    black.see([white.self, black.self])
    await black.start()
    const [moving] = placedAt('black', [white.self, black.self])
    const inProgress = [{ tenant: 'one', kind: 'thread', id: 'long ago' }]
    black.balancer.handle([{ shard: moving!, epoch: 0, session: null, address: '',
      goingOn: inProgress }])
    house.living.delete('white')
    house.seeAll()
    await house.confirm(5 * secondMs)
    expect(house.owned(black)).toEqual(all)
    expect(black.received).toEqual([])
  })

  it('owns nothing of a shard while it releases, and releases it after', async () => {
    const { house, white } = await alone()
    house.holds = true
    const black = await house.join('black')
    await black.start()
    const members = house.seeAll()
    await house.confirm(secondMs)
    const moving = all.filter((shard) => placeShard(shard, members).id === 'black')
    for (const shard of moving) {
      expect(white.balancer.ownerOf(shard)).toBeUndefined()
      expect(house.arbiter.owner(shard)?.session).toBe('white')
    }
    expect(house.owned(black)).toEqual([])
    house.holds = false
    white.release()
    await house.confirm(secondMs)
    expect(house.owned(black)).toEqual(moving)
    expect(house.early).toEqual([])
  })

  it('gives back no shard that it cannot release, until it can', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    await black.start()
    house.fails = true
    house.seeAll(new Set(['white']))
    await house.confirm(2 * secondMs)
    expect([house.owned(black), house.early]).toEqual([[], []])
    house.fails = false
    await house.confirm(2 * secondMs)
    expect([house.owned(white), house.owned(black), house.early]).toEqual([[], all, []])
  })

  it('releases four shards at a time, and serves the others until their turn', async () => {
    const { house, white } = await alone()
    house.holds = true
    const black = await house.join('black')
    white.see([black.self])
    await settle()
    expect(house.owned(white)).toHaveLength(shards - 4)
  })

  it('takes back shards that are placed here again while it releases them', async () => {
    const { house, white } = await alone()
    house.holds = true
    const black = await house.join('black')
    white.see([white.self, black.self])
    await settle()
    expect(house.owned(white).length).toBeLessThan(shards)
    white.see([white.self])
    house.holds = false
    white.release()
    for (let i = 0; i < 5; i++) await settle()
    expect(house.owned(white)).toEqual(all)
  })

  it('takes a shard that was given back even without an announcement or a request', async () => {
    const { house } = await alone(() => false)
    const black = await house.join('black')
    await black.start()
    const members = house.seeAll()
    await house.confirm(2 * secondMs)
    expect(house.owned(black)).toEqual(
      all.filter((shard) => placeShard(shard, members).id === 'black'),
    )
  })

  it('takes a free shard at once if a request waits for it', async () => {
    const { house } = await alone(() => false)
    const black = await house.join('black')
    await black.start()
    house.seeAll()
    await house.confirm(100)
    const free = all.filter((shard) => house.arbiter.owner(shard)?.session === null)
    expect([free.length > 0, house.owned(black)]).toEqual([true, []])
    for (const shard of free) black.balancer.doubt(shard)
    void black.balancer.changed()
    await house.confirm(300)
    expect(house.owned(black)).toEqual(free)
  })

  it('never gives back a shard that another member owns by now', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    house.living.delete('white')
    black.see([black.self])
    await black.start()
    await house.confirm(100)
    expect(house.owned(black)).toEqual(all)
    // White was frozen: it knows the new owner, and not yet that its own session has ended.
    white.see([white.self, { id: 'red', address: 'red:1' }])
    await house.confirm(secondMs)
    expect(all.map((shard) => house.arbiter.owner(shard)?.session))
      .toEqual(all.map(() => 'black'))
    expect(white.seen.some((line) => /let go/.test(line))).toBe(true)
  })

  it('waits for the store if that is unreachable at the start', async () => {
    const house = new House(plain)
    let away = true
    const { claim } = house.arbiter.shardOwners
    const white = await house.join('white', {
      claim: async (change) => away ? { kind: 'unknown' } : claim(change),
    })
    const starting = white.start()
    await house.confirm(5 * secondMs)
    away = false
    await Promise.all([starting, house.confirm(2 * secondMs)])
    expect(house.owned(white)).toEqual(all)
    expect(white.seen).toHaveLength(shards)
  })

  it('gives back shards that it claimed without an answer, if placed elsewhere since', async () => {
    const house = new House(plain)
    let deaf = true
    const { claim } = house.arbiter.shardOwners
    const white = await house.join('white', { claim: async (change) => {
      const outcome = await claim(change)
      if (deaf) throw new Error('no quorum')
      return outcome
    } })
    await white.start().catch(() => {})
    const black = await house.join('black')
    await black.start()
    deaf = false
    house.seeAll(new Set(['white']))
    await white.start()
    await house.confirm(3 * secondMs)
    expect(house.owned(black)).toEqual(all)
  })

  it('makes one pass at a time, even with announcements during the start', async () => {
    const house = new House(plain)
    const white = await house.join('white')
    const starting = white.start()
    for (let round = 0; round < 4; round++) {
      await Promise.resolve()
      white.balancer.handle([])
    }
    await starting
    await house.confirm(secondMs)
    expect(house.arbiter.history.map(({ epoch }) => epoch)).toEqual(all.map(() => 1))
  })

  it('leaves without shards, or at once with them if nobody stays', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    await black.start()
    house.seeAll(new Set(['white']))
    const leaving = white.balancer.leave()
    await house.confirm(100)
    await leaving
    expect([house.owned(white), house.owned(black)]).toEqual([[], all])
    house.seeAll(new Set(['white', 'black']))
    await black.balancer.leave()
    expect(house.owned(black)).toEqual(all)
  })

  it('believes the higher epoch, and reads a doubted owner from the store', async () => {
    const { house, white } = await alone()
    const black = await house.join('black')
    black.see([white.self])
    await black.start()
    const red = { id: 'red', address: 'red:1' }
    house.living.add('red')
    black.balancer.learn(0, { member: red, epoch: 9 })
    black.balancer.learn(0, { member: white.self, epoch: 3 })
    expect(black.balancer.ownerOf(0)).toEqual({ member: red, epoch: 9 })
    house.living.delete('red')
    expect(black.balancer.ownerOf(0)).toBeUndefined()
    black.balancer.doubt(1)
    expect(black.balancer.ownerOf(1)).toBeUndefined()
    const changed = black.balancer.changed()
    await house.confirm(200)
    await changed
    expect(black.balancer.ownerOf(1)).toEqual({ member: white.self, epoch: 1 })
  })

  it('reads a shard once at a time, and can take it while that read hangs', async () => {
    const { house, white } = await alone()
    let asked = 0
    const black = await house.join('black', { owner: () => {
      asked += 1
      return new Promise(() => {})
    } })
    black.see([white.self])
    await black.start()
    for (let round = 0; round < 40; round++) {
      for (const shard of all) black.balancer.doubt(shard)
      void black.balancer.changed()
      await house.confirm(200)
    }
    expect(asked).toBe(shards)
    const members = house.seeAll()
    await house.confirm(100)
    expect(house.owned(black)).toEqual(
      all.filter((shard) => placeShard(shard, members).id === 'black'),
    )
  })

  it('keeps its shards and has no timer once it is closed', async () => {
    const { house, white } = await alone()
    await house.confirm(10)
    white.balancer.close()
    house.seeAll(new Set(['white']))
    await house.confirm(secondMs)
    expect([house.env.timers(), house.owned(white)]).toEqual([0, all])
  })

  it('has no timer once it is closed while the store is away', async () => {
    const house = new House(plain)
    let away = false
    const { claim } = house.arbiter.shardOwners
    const white = await house.join('white', { claim: async (change) => {
      if (away) throw new HeddleError('unavailable')
      return claim(change)
    } })
    await white.start()
    const black = await house.join('black')
    await black.start()
    away = true
    house.seeAll()
    await house.confirm(100)
    expect(house.env.timers()).toBeGreaterThan(0)
    white.balancer.close()
    black.balancer.close()
    await house.confirm(2 * secondMs)
    expect(house.env.timers()).toBe(0)
  })

  it('does not repeat a failed claim once it is closed', async () => {
    const house = new House(plain)
    const answer = Promise.withResolvers<never>()
    const white = await house.join('white', { claim: () => answer.promise })
    white.see([])
    await white.start()
    white.see([white.self])
    white.balancer.close()
    answer.reject(new HeddleError('unavailable'))
    await settle()
    expect(house.env.timers()).toBe(0)
  })
})

const steps = fc.array(fc.record({
  what: fc.constantFrom('join', 'join', 'leave', 'die', 'rest'),
  whom: fc.nat(5),
  ms: fc.constantFrom(0, 5, 40, 700),
}), { maxLength: 14 })

describe('keepers that join and leave', () => {
  it('never own a shard together, and in the end own those that are placed at them', async () => {
    await expectAlways(
      fc.asyncProperty(steps, fc.infiniteStream(fc.boolean()),
        fc.array(fc.constantFrom<'clear' | 'lost' | 'done unheard' | 'lingers'>(
          'clear',
          'lost',
          'done unheard',
          'lingers',
        ), { maxLength: 20 }), async (plan, flips, outcomes) => {
        const flip = () => flips.next().value!
        const left = outcomes.values()
        const fate: Fate = { pause: async () => {
          if (flip()) await settle()
        }, flip, outcome: () => left.next().value ?? 'clear' }
        const house = new House(fate, flip)
        const leaving = new Set<string>()
        const look = () => {
          for (const shard of all) expect(house.ownersOf(shard).length).toBeLessThan(2)
        }
        for (const [number, { what, whom, ms }] of plan.entries()) {
          const staying = house.balancers.filter(({ self: { id } }) =>
            house.living.has(id) && !leaving.has(id)
          )
          const one = staying[whom % Math.max(staying.length, 1)]
          if (what === 'join' || one === undefined) {
            const joined = await house.join(`m${number}`)
            house.seeAll(leaving)
            joined.start().catch(() => {})
          } else if (what === 'leave') leaving.add(one.self.id)
          else if (what === 'die') house.living.delete(one.self.id)
          house.seeAll(leaving)
          await house.confirm(ms, look)
        }
        const last = await house.join('last')
        const starting = last.start()
        const members = house.seeAll(leaving)
        await house.confirm(4_000, look)
        await starting
        expect(house.arbiter.violations).toEqual([])
        expect(house.early).toEqual([])
        for (const shard of all) {
          expect(house.ownersOf(shard)).toEqual([placeShard(shard, members).id])
          const epochs = house.arbiter.history
            .filter((owner) => owner.shard === shard && owner.session !== null)
            .map(({ epoch }) => epoch)
          expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b))
        }
      }),
      { share: 10 },
    )
  })
})
