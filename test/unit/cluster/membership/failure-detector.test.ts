/** Which members are alive in the view of one, and which it ends. */

import { describe, expect, it } from 'vitest'

import { Roster } from '../../../../cluster/index.ts'
import type { Member } from '../../../../cluster/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import { Arbiter, plain, settle } from './arbiter.ts'

const [white, black, red] = ['white', 'black', 'red'].map((id): Member =>
  ({ id, address: `${id}:1` })) as [Member, Member, Member]

/**
 * A cluster of which one roster is tested. Members in `deaf` do not answer probes; of those that
 * are passed as `beating`, all but those in `mute` leave heartbeats.
 */
function house() {
  const env = virtualEnv()
  const arbiter = new Arbiter(plain)
  const fenced: string[] = []
  const deaf = new Set<string>()
  const mute = new Set<string>()
  const over: string[] = []
  const speaking = new Set<string>()
  const sessions = {
    state: arbiter.sessions.state,
    fence: async (id: string) => {
      fenced.push(id)
      return arbiter.sessions.fence(id)
    },
  }
  const settings = { judges: true, silent: false,
    witness: async (_: Member): Promise<boolean> => false }
  /** A probe that fails: at once, or after three seconds of silence. */
  const unheard = () => settings.silent
    ? new Promise<boolean>((answer) => env.after(3_000, () => answer(false)))
    : Promise.resolve(false)
  const counts = new Map<string, number>()
  /** Leaves a heartbeat of another member. */
  const beat = async (member: Member, leaving = false) => {
    const count = (counts.get(member.id) ?? 0) + 1
    counts.set(member.id, count)
    await arbiter.beats.beat({ ...member, count, leaving })
  }
  const join = async (self: Member, member = true) => {
    if (member) await arbiter.sessions.join(self)
    const roster = new Roster({
      env, self, member, sessions, beats: arbiter.beats,
      lives: async ({ id }) => !deaf.has(id) || unheard(),
      askPeer: async (_, seen) => settings.witness(seen),
      mayJudge: async () => settings.judges,
      heardMs: ({ id }) => speaking.has(id) ? env.monotonicMs() : Number.NEGATIVE_INFINITY,
      over: ({ id }) => over.push(id),
    })
    return roster
  }
  const pass = async (seconds: number, beating: readonly Member[]) => {
    for (let second = 0; second < seconds; second++) {
      for (const member of beating) if (!mute.has(member.id)) await beat(member)
      await passTime(env, 1_000)
    }
  }
  return { env, arbiter, fenced, deaf, mute, speaking, over, settings, beat, join, pass }
}

async function passTime(env: VirtualEnv, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    env.advance(100)
    await settle()
  }
}

const idsOf = (members: readonly Member[]) => members.map(({ id }) => id).toSorted()

/** From now on nobody can read heartbeats, until the returned function is called. */
function loseBeats({ beats: port }: Arbiter): () => void {
  const { beats } = port
  Object.assign(port, { beats: () => Promise.reject(new Error('no quorum')) })
  return () => { Object.assign(port, { beats }) }
}

/** White's roster, and others that have live sessions and heartbeats. */
async function seated(others: readonly Member[]) {
  const all = house()
  const roster = await all.join(white)
  for (const other of others) {
    await all.arbiter.sessions.join(other)
    await all.beat(other)
  }
  await roster.start()
  return { ...all, roster }
}

/** The same, with black and red, when white has been cut off from both for twelve seconds. */
async function cutOff() {
  const all = await seated([black, red])
  const { deaf, settings, pass } = all
  settings.silent = true
  settings.witness = () => Promise.reject(new Error('no way'))
  for (const member of ['black', 'red']) deaf.add(member)
  await pass(12, [black, red])
  return all
}

describe('a roster', () => {
  it('sees itself and all members with heartbeats and live sessions', async () => {
    const { roster, pass, fenced } = await seated([black, red])
    await pass(20, [black, red])
    expect(idsOf(roster.view.members)).toEqual(['black', 'red', 'white'])
    expect(idsOf(roster.others)).toEqual(['black', 'red'])
    expect(fenced).toEqual([])
  })

  it('ends a silent member once, calls listeners, and deletes its heartbeat', async () => {
    const { arbiter, roster, deaf, fenced, over, pass } = await seated([black, red])
    let changes = 0
    roster.onChange(() => { changes++ })
    deaf.add('red')
    await pass(3, [black])
    expect([fenced, over, changes]).toEqual([['red'], ['red'], 1])
    expect(idsOf(roster.view.members)).toEqual(['black', 'white'])
    expect(idsOf(await arbiter.beats.beats())).toEqual(['black', 'white'])
    expect(roster.isOver('red')).toBe(true)
    expect(await roster.proveEnded(red)).toBe(true)
    expect(fenced).toEqual(['red'])
  })

  it('ends one that refuses connections when it starts, and waits for nothing', async () => {
    const { env, arbiter, deaf, fenced, beat, join } = house()
    const roster = await join(white)
    await arbiter.sessions.join(black)
    await beat(black)
    deaf.add('black')
    await roster.start()
    expect([fenced, env.monotonicMs()]).toEqual([['black'], 0])
  })

  it('ends no member that a witness can reach', async () => {
    const { roster, deaf, fenced, settings, pass } = await seated([black, red])
    settings.witness = async () => true
    deaf.add('red')
    await pass(5, [black, red])
    expect(fenced).toEqual([])
    expect(idsOf(roster.view.members)).toContain('red')
  })

  it('ends no silent member that a witness can reach', async () => {
    const { deaf, mute, fenced, settings, pass } = await seated([black, red])
    Object.assign(settings, { silent: true, witness: async () => true })
    for (const set of [deaf, mute]) set.add('red')
    await pass(7, [black])
    expect(fenced).toEqual([])
  })

  it('does not count a witness that cannot be asked', async () => {
    const { deaf, fenced, settings, pass } = await seated([black, red])
    settings.witness = () => Promise.reject(new Error('no way'))
    deaf.add('red')
    await pass(2, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it('ends a member that answers if its heartbeat stops for eight seconds', async () => {
    const { fenced, mute, pass } = await seated([black, red])
    mute.add('red')
    await pass(7, [black, red])
    expect(fenced).toEqual([])
    await pass(4, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it('ends a silent member without heartbeats, and not one with', async () => {
    const { deaf, mute, fenced, settings, pass } = await seated([black, red])
    Object.assign(settings, { silent: true, witness: () => Promise.reject(new Error('no way')) })
    deaf.add('red').add('black')
    mute.add('red')
    await pass(10, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it('that reaches nobody goes by heartbeats, since it may be cut off itself', async () => {
    const { deaf, mute, fenced, settings, pass } = await seated([black, red])
    Object.assign(settings, { silent: true, witness: () => Promise.reject(new Error('no way')) })
    for (const set of [deaf, mute]) set.add('black').add('red')
    await pass(7, [])
    mute.clear()
    await pass(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('does not end a member that still replies on open connections', async () => {
    const { roster, deaf, mute, speaking, fenced, settings, pass } = await seated([black, red])
    settings.silent = true
    speaking.add('red')
    for (const set of [deaf, mute]) set.add('red')
    await pass(7, [black])
    expect(fenced).toEqual([])
    const asked = roster.reaches(red)
    await pass(4, [black])
    expect(await asked).toBe(true)
    speaking.clear()
    await pass(10, [black])
    expect(fenced).toEqual(['red'])
  })

  it('ends a member with heartbeats that nobody has reached for long', async () => {
    const { deaf, fenced, settings, pass } = await seated([black, red])
    settings.silent = true
    deaf.add('red')
    await pass(7, [black, red])
    expect(fenced).toEqual([])
    await pass(13, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it.each([
    ['stood still', 20_000],
    ['came late', 2_000],
  ])('is patient with a silent member after it %s itself', async (_, gapMs) => {
    const { env, deaf, fenced, settings } = await seated([black])
    settings.silent = true
    deaf.add('black')
    const clock = env.monotonicMs
    Object.assign(env, { monotonicMs: () => clock() + gapMs })
    await passTime(env, 7_000)
    expect(fenced).toEqual([])
    await passTime(env, 10_000)
    expect(fenced).toEqual(['black'])
  })

  it('probes a member with heartbeats again before it ends it as cut off', async () => {
    const { env, deaf, fenced, settings, pass } = await seated([black, red])
    settings.silent = true
    deaf.add('red')
    await pass(1, [black, red])
    const clock = env.monotonicMs
    // A roster that is late itself waits longer for a beat: meanwhile red answers again.
    Object.assign(env, { monotonicMs: () => clock() + 2_000 })
    await pass(3, [black, red])
    deaf.delete('red')
    await pass(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('reads heartbeats before it ends a member, however long that takes', async () => {
    const { env, arbiter, deaf, fenced, settings, pass } = await seated([black, red])
    const { beats } = arbiter.beats
    const slow = () => new Promise<void>((done) => env.after(7_500, done))
      .then(() => beats.call(arbiter.beats))
    await pass(1, [black, red])
    Object.assign(arbiter.beats, { beats: slow })
    settings.silent = true
    await pass(2, [black, red])
    deaf.add('red')
    await pass(4, [black, red])
    deaf.delete('red')
    Object.assign(arbiter.beats, { beats })
    await pass(15, [black, red])
    expect(fenced).toEqual([])
  })

  it('ends no silent member whose heartbeats it could not read either', async () => {
    const { arbiter, deaf, fenced, settings, pass } = await seated([black, red])
    settings.silent = true
    deaf.add('red')
    const back = loseBeats(arbiter)
    await pass(7, [black, red])
    expect(fenced).toEqual([])
    back()
    deaf.delete('red')
    await pass(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('gives a silent member time for a heartbeat when the store is back for both', async () => {
    const { arbiter, deaf, mute, fenced, settings, pass } = await seated([black, red])
    settings.silent = true
    await pass(1, [black, red])
    const back = loseBeats(arbiter)
    deaf.add('red')
    mute.add('red')
    await pass(6, [black, red])
    back()
    await pass(2, [black, red])
    mute.delete('red')
    deaf.delete('red')
    await pass(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('that reached nobody a moment ago ends nobody who is silent yet', async () => {
    const { deaf, fenced, settings, pass } = await cutOff()
    // The way is free again; the machine is so busy that a witness waits in vain for red.
    settings.witness = async () => false
    deaf.delete('black')
    await pass(7, [black])
    deaf.delete('red')
    await pass(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('that reached nobody a moment ago ends nobody whose connections break', async () => {
    const { fenced, settings, pass } = await cutOff()
    settings.silent = false
    await pass(3, [black, red])
    expect(fenced).toEqual([])
    await pass(10, [black, red])
    expect(fenced.toSorted()).toEqual(['black', 'red'])
  })

  it('probes a silent member until it answers, even if it is not its neighbour', async () => {
    const more = ['a', 'b', 'c'].map((id): Member => ({ id, address: `${id}:1` }))
    const all = [...more, black, red]
    const { roster, deaf, fenced, settings, pass } = await seated(all)
    settings.silent = true
    for (let round = 0; round < 2; round++) {
      deaf.add('red')
      roster.doubt(red)
      await pass(4, all)
      deaf.delete('red')
      await pass(30, all)
    }
    expect(fenced).toEqual([])
  })

  it('ends nobody if it could not reach the store itself', async () => {
    const { env, arbiter, fenced, pass } = await seated([black])
    const back = loseBeats(arbiter)
    await pass(20, [])
    back()
    await passTime(env, 7_000)
    expect(fenced).toEqual([])
  })

  it('ends nobody while its own session is not known to be alive', async () => {
    const { roster, deaf, fenced, settings, pass } = await seated([black])
    settings.judges = false
    deaf.add('black')
    await pass(3, [black])
    expect([fenced, idsOf(roster.view.members)]).toEqual([[], ['black', 'white']])
    settings.judges = true
    await pass(1, [black])
    expect(fenced).toEqual(['black'])
  })

  it('ignores a late heartbeat of a member that is over', async () => {
    const { arbiter, roster, beat, pass } = await seated([black])
    arbiter.end('red')
    await beat(red)
    await pass(2, [black, red])
    expect(idsOf(roster.others)).toEqual(['black'])
    expect(roster.isOver('red')).toBe(true)
  })

  it('leaves a leaving member out of the view, and still knows it', async () => {
    const { roster, beat, pass } = await seated([black])
    await beat(black, true)
    await roster.look()
    expect([idsOf(roster.view.members), idsOf(roster.others)]).toEqual([['white'], ['black']])
    await pass(1, [])
    await roster.leave()
    expect(roster.view.members).toEqual([])
  })

  it('drops a member whose heartbeat is gone, and stops when it is closed', async () => {
    const { env, arbiter, roster, over } = await seated([black])
    await arbiter.beats.forget('black')
    await roster.look()
    expect([idsOf(roster.view.members), over]).toEqual([['white'], ['black']])
    await roster.close()
    expect([env.timers(), await arbiter.beats.beats()]).toEqual([0, []])
  })

  it('leaves no heartbeat once it is closed', async () => {
    const { arbiter, roster } = await seated([black])
    await roster.close()
    await roster.look()
    expect(idsOf(await arbiter.beats.beats())).toEqual(['black'])
  })

  it('proves an end by a fence, and not of a member that it sees or that answers', async () => {
    const { arbiter, roster, deaf, fenced } = await seated([black])
    await arbiter.sessions.join(red)
    expect([await roster.proveEnded(black), await roster.proveEnded(red)]).toEqual([false, false])
    deaf.add('red')
    expect(await roster.proveEnded(red)).toBe(true)
    const left: Member = { id: 'left', address: 'left:1' }
    await arbiter.sessions.join(left)
    arbiter.end('left', 'left')
    expect(await roster.proveEnded(left)).toBe(true)
    expect(fenced).toEqual(['red', 'left'])
  })

  it('does not prove the end of a new member that is silent', async () => {
    const { arbiter, roster, deaf, fenced, settings, beat, pass } = await seated([black])
    await arbiter.sessions.join(red)
    await beat(red)
    settings.silent = true
    deaf.add('red')
    const proven = roster.proveEnded(red)
    await pass(8, [black, red])
    expect([await proven, fenced]).toEqual([false, []])
    expect(idsOf(roster.view.members)).toContain('red')
  })

  it('proves the end of a new member that refuses connections', async () => {
    const { arbiter, roster, deaf, fenced, beat } = await seated([black])
    await arbiter.sessions.join(red)
    await beat(red)
    deaf.add('red')
    expect([await roster.proveEnded(red), fenced]).toEqual([true, ['red']])
  })

  it('of a front door sees members, leaves no heartbeat and ends nobody', async () => {
    const { arbiter, beat, deaf, fenced, join, pass } = house()
    await arbiter.sessions.join(black)
    await beat(black)
    const roster = await join(white, false)
    await roster.start()
    deaf.add('black')
    await pass(12, [])
    expect([idsOf(roster.view.members), fenced]).toEqual([['black'], []])
    expect(idsOf(await arbiter.beats.beats())).toEqual(['black'])
  })
})
