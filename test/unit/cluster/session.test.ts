/** A member's session: who may start, who has to wait, and what is owned under which epoch. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { openSession } from '../../../cluster/index.ts'
import type { Member, Session } from '../../../cluster/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { Arbiter } from './arbiter.ts'
import type { Fate } from './arbiter.ts'

const shards = 5
const old: Member = { id: 'old', address: 'board:1' }
const white: Member = { id: 'white', address: 'board:2' }
const black: Member = { id: 'black', address: 'board:3' }

const plain: Fate = { pause: async () => {}, flip: () => true, outcome: () => 'clear' }

/** One arbiter, and members that open a session at it. */
function table({ fate = plain, answers = () => false }: {
  fate?: Fate
  answers?: (member: Member) => boolean
} = {}) {
  const env = virtualEnv()
  const arbiter = new Arbiter(fate)
  const fencings: string[] = []
  const asked: string[] = []
  const open = (self: Member) => openSession({
    env, self, shards,
    sessions: arbiter.sessions,
    shardOwners: arbiter.shardOwners,
    probe: async (member) => {
      await fate.pause()
      asked.push(member.id)
      return answers(member)
    },
    onFenced: (reason) => fencings.push(reason),
  })
  return { env, arbiter, fencings, asked, open }
}

function epochsOf({ ownership }: Session): number[] {
  return Array.from({ length: shards }, (_, shard) => ownership.ownerOf(shard).epoch)
}

/** Passes time in which promises, but no timers, go on. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

describe('a session', () => {
  it('owns every shard from epoch 1 where nobody was before', async () => {
    const { arbiter, open } = table()
    const session = await open(white)
    expect(epochsOf(session)).toEqual([1, 1, 1, 1, 1])
    expect(session.ownership.ownerOf(3).member).toBe(white)
    expect(arbiter.owner(3)).toEqual({ shard: 3, epoch: 1, session: 'white', address: 'board:2' })
    expect(session.gate.state).toBe('open')
  })

  it('takes over at once from one that left, under higher epochs', async () => {
    const { asked, arbiter, open } = table({ answers: () => true })
    await (await open(white)).leave()
    expect(arbiter.alive('white')).toBe(false)
    expect(epochsOf(await open(black))).toEqual([2, 2, 2, 2, 2])
    expect(asked).toEqual([])
  })

  it('fences one that does not answer, and takes over', async () => {
    const { asked, arbiter, open } = table()
    arbiter.plant(old, shards, 7)
    expect(epochsOf(await open(white))).toEqual([8, 8, 8, 8, 8])
    expect([arbiter.alive('old'), asked]).toEqual([false, ['old']])
  })

  it('does not start while one lives that owns shards, and says where it is', async () => {
    const { arbiter, open, fencings } = table({ answers: () => true })
    arbiter.plant(old, shards, 7)
    const refused = await open(white).catch((error: Error) => error)
    expect(refused).toMatchObject({ code: 'not_owner', facts: { owner: old } })
    expect(refused).toHaveProperty('message', expect.stringMatching(/^[^.]*board:1[^.]*\.$/))
    expect([arbiter.alive('old'), arbiter.alive('white'), arbiter.history, fencings])
      .toEqual([true, false, [], []])
  })

  it('proves for itself that a session is over which somebody else began to fence', async () => {
    const { asked, arbiter, open } = table({ answers: () => true })
    arbiter.plant(old, shards, 7)
    arbiter.halfEnd('old')
    await open(white)
    expect([asked, arbiter.violations]).toEqual([[], []])
  })

  it('fences a session that nobody knows of', async () => {
    const { env, arbiter } = table()
    arbiter.plant(old, shards, 7)
    const fenced: string[] = []
    const session = await openSession({
      env, self: white, shards, shardOwners: arbiter.shardOwners,
      sessions: {
        ...arbiter.sessions,
        state: async (id) => id === 'old' ? undefined : arbiter.sessions.state(id),
        fence: (id, by) => {
          fenced.push(id)
          return arbiter.sessions.fence(id, by)
        },
      },
      probe: async () => true, onFenced: () => {},
    })
    expect([epochsOf(session), fenced]).toEqual([[8, 8, 8, 8, 8], ['old']])
  })

  it('claims on until it is clear, each time with a fresh epoch', async () => {
    const outcomes = ['lost', 'done unheard', 'clear'] as const
    let claims = 0
    const fate: Fate = { ...plain, outcome: () => outcomes[claims++] ?? 'clear' }
    const { env, arbiter, open } = table({ fate })
    arbiter.plant(old, shards, 7)
    const opening = open(white)
    for (let rounds = 0; rounds < 5; rounds++) {
      await settle()
      env.advance(50)
    }
    // 8 was lost, 9 was done, 10 was refused and told of it, 11 is clear.
    expect(epochsOf(await opening)).toEqual([11, 8, 8, 8, 8])
  })

  it('gives up where the store never tells what became of a claim', async () => {
    const { env, arbiter, open } = table({ fate: { ...plain, outcome: () => 'lost' } })
    const opening = open(white).catch((error: unknown) => error)
    for (let rounds = 0; rounds < 25; rounds++) {
      await settle()
      env.advance(50)
    }
    expect(await opening).toMatchObject({ code: 'unavailable' })
    expect([arbiter.alive('white'), env.timers()]).toEqual([false, 0])
  })

  it('begins no claim after one that failed, and is done with all when it throws', async () => {
    const { arbiter, open } = table({ answers: ({ id }) => id === 'black' })
    let claims = 0
    let underWay = 0
    const claim = async (...of: Parameters<typeof arbiter.shardOwners.claim>) => {
      claims++
      underWay++
      await settle()
      underWay--
      if (of[0].to.shard === 1) throw new Error('broken')
      return arbiter.shardOwners.claim(...of)
    }
    await expect(openSession({
      env: virtualEnv(), self: white, shards: 100, sessions: arbiter.sessions,
      shardOwners: { ...arbiter.shardOwners, claim },
      probe: async () => false, onFenced: () => {},
    })).rejects.toThrow('broken')
    expect([underWay, claims, arbiter.alive('white')]).toEqual([0, 17, false])
    await expect(open(black)).resolves.toBeDefined()
  })

  it('tells once that it was fenced, though nobody asks it anything', async () => {
    const { env, arbiter, fencings, open } = table()
    const session = await open(white)
    arbiter.end('white')
    for (const _ of [1, 2, 3]) {
      env.advance(1_000)
      await settle()
    }
    expect(fencings).toEqual(['Another member fenced the session of this one and takes over.'])
    await expect(session.gate.pass()).rejects.toMatchObject({ code: 'not_owner' })
  })

  it('does not serve when it was fenced while it claimed', async () => {
    const { arbiter, fencings, open } = table({
      fate: { ...plain, outcome: () => {
        arbiter.end('white')
        return 'clear'
      } },
    })
    await expect(open(white)).rejects.toMatchObject({ code: 'not_owner' })
    expect(fencings).toEqual([])
  })

  it('acknowledges nothing from the moment it leaves, and rests then', async () => {
    const { env, arbiter, fencings, open } = table()
    const session = await open(white)
    const leaving = session.leave()
    await expect(session.gate.pass()).rejects.toMatchObject({ code: 'not_owner' })
    await leaving
    expect([arbiter.alive('white'), env.timers(), fencings]).toEqual([false, 0, []])
  })

  it('leaves in peace where the store cannot be told', async () => {
    const { env, arbiter } = table()
    const session = await openSession({
      env, self: white, shards, shardOwners: arbiter.shardOwners,
      sessions: { ...arbiter.sessions, leave: () => Promise.reject(new Error('no quorum')) },
      probe: async () => false, onFenced: () => {},
    })
    await session.leave()
    expect(env.lines.at(-1)?.level).toBe('warn')
  })
})

describe('members that race for the shards of a dead one', () => {
  const seeds = fc.record({
    scheduler: fc.scheduler(),
    flips: fc.infiniteStream(fc.boolean()),
    outcomes: fc.array(fc.constantFrom('clear', 'lost', 'done unheard', 'lingers'),
      { maxLength: 14 }),
    halfEnded: fc.boolean(),
  })
  type Seed = typeof seeds extends fc.Arbitrary<infer T> ? T : never

  function race({ scheduler, flips, outcomes, halfEnded }: Seed,
    answers: (member: Member) => boolean) {
    const left = outcomes.values()
    const fate: Fate = {
      pause: () => scheduler.schedule(Promise.resolve()),
      flip: () => flips.next().value!,
      outcome: () => left.next().value ?? 'clear',
    }
    const { env, arbiter, fencings, open } = table({ fate, answers })
    arbiter.plant(old, shards, 3)
    if (halfEnded) arbiter.halfEnd('old')
    /** Lets things happen in the order of the seed until `work` is done. */
    const play = async <T>(work: Promise<T>): Promise<T> => {
      const done = { yet: false }
      work.finally(() => { done.yet = true }).catch(() => {})
      for (await settle(); !done.yet; await settle()) {
        if (scheduler.count() > 0) await scheduler.waitNext(1)
        else env.advance(50)
      }
      return work
    }
    return { arbiter, fencings, open, play }
  }

  /** Each shard has one owner per epoch, and its epochs grow. */
  function expectOneHistory({ history, violations }: Arbiter): void {
    expect(violations).toEqual([])
    for (let shard = 0; shard < shards; shard++) {
      const epochs = history.filter((owner) => owner.shard === shard).map(({ epoch }) => epoch)
      expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b))
      expect(epochs[0] ?? 4).toBeGreaterThan(3)
    }
  }

  it('have exactly one winner, who owns all; the loser took nothing and names him', async () => {
    await fc.assert(fc.asyncProperty(seeds, async (seed) => {
      const { arbiter, open, play } = race(seed, ({ id }) => id !== 'old')
      const both = await play(Promise.allSettled([open(white), open(black)]))
      expectOneHistory(arbiter)
      const place = both.findIndex(({ status }) => status === 'fulfilled')
      const [won, lost] = [both[place], both[1 - place]]
      expect([won?.status, lost?.status]).toEqual(['fulfilled', 'rejected'])
      const winner = [white, black][place]!
      expect(lost).toMatchObject({ reason: { code: 'not_owner', facts: { owner: winner } } })
      const { ownership } = (won as PromiseFulfilledResult<Session>).value
      for (let shard = 0; shard < shards; shard++) {
        const { member, epoch } = ownership.ownerOf(shard)
        expect(member).toBe(winner)
        expect(arbiter.owner(shard)).toMatchObject({ session: winner.id, epoch })
      }
      const losers = arbiter.history.filter(({ session }) => session !== winner.id)
      expect(losers).toEqual([])
    }), { numRuns: 300 })
  })

  it('never both serve, though each may be taken for dead while it lives', async () => {
    await fc.assert(fc.asyncProperty(seeds, async (seed) => {
      const { arbiter, open, play } = race(seed,
        ({ id }) => id !== 'old' && seed.flips.next().value!)
      const both = await play(Promise.allSettled([open(white), open(black)]))
      expectOneHistory(arbiter)
      const members = [white, black]
      let serving = 0
      for (const [place, opened] of both.entries()) {
        if (opened.status === 'rejected') continue
        const { gate, ownership } = opened.value
        const { id } = members[place]!
        const lives = arbiter.alive(id)
        const passes = await play(gate.pass().then(() => true, () => false))
        expect(passes).toBe(lives)
        if (!lives) continue
        serving++
        for (let shard = 0; shard < shards; shard++) {
          const { epoch } = ownership.ownerOf(shard)
          expect(arbiter.owner(shard)).toMatchObject({ session: id, epoch })
        }
      }
      expect(serving).toBeLessThanOrEqual(1)
    }), { numRuns: 300 })
  })
})
