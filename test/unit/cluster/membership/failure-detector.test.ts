/** Which members are alive in the view of one, and which it ends. */

import { describe, expect, it } from 'vitest'

import { FailureDetector } from '../../../../cluster/index.ts'
import type { Member } from '../../../../cluster/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import { Arbiter, plain, settle } from './arbiter.ts'

const [white, black, red] = ['white', 'black', 'red'].map((id): Member => ({ id,
  address: `${id}:1` })
) as [Member, Member, Member]

/**
 * A cluster of which one failure detector is tested. Members in `deaf` do not answer probes; of
 * those that are passed as `beating`, all but those in `mute` leave heartbeats.
 */
function house() {
  const env = virtualEnv()
  const arbiter = new Arbiter(plain)
  const fenced: string[] = []
  const deaf = new Set<string>()
  const mute = new Set<string>()
  const ended: string[] = []
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
  const unprocessed = () =>
    settings.silent
      ? new Promise<boolean>((answer) => env.after(3_000, () => answer(false)))
      : Promise.resolve(false)
  const counts = new Map<string, number>()
  /** Leaves a heartbeat of another member. */
  const heartbeat = async (member: Member, leaving = false) => {
    const count = (counts.get(member.id) ?? 0) + 1
    counts.set(member.id, count)
    await arbiter.heartbeats.heartbeat({ ...member, count, leaving })
  }
  const join = async (self: Member, member = true) => {
    if (member) await arbiter.sessions.join(self)
    const detector = new FailureDetector({
      env,
      self,
      member,
      sessions,
      heartbeats: arbiter.heartbeats,
      lives: async ({ id }) => !deaf.has(id) || unprocessed(),
      askPeer: async (_, seen) => settings.witness(seen),
      canFence: async () => settings.judges,
      lastSeenMs: ({ id }) => speaking.has(id) ? env.monotonicMs() : Number.NEGATIVE_INFINITY,
      ended: ({ id }) => ended.push(id),
    })
    return detector
  }
  const confirm = async (seconds: number, beating: readonly Member[]) => {
    for (let second = 0; second < seconds; second++) {
      for (const member of beating) if (!mute.has(member.id)) await heartbeat(member)
      await passTime(env, 1_000)
    }
  }
  return { env, arbiter, fenced, deaf, mute, speaking, ended, settings, heartbeat, join, confirm }
}

async function passTime(env: VirtualEnv, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    env.advance(100)
    await settle()
  }
}

const idsOf = (members: readonly Member[]) => members.map(({ id }) => id).toSorted()

/** From now on nobody can read heartbeats, until the returned function is called. */
function loseHeartbeats({ heartbeats: port }: Arbiter): () => void {
  const { heartbeats } = port
  Object.assign(port, { heartbeats: () => Promise.reject(new Error('no quorum')) })
  return () => {
    Object.assign(port, { heartbeats })
  }
}

/** White's failure detector, and others that have live sessions and heartbeats. */
async function joined(others: readonly Member[]) {
  const all = house()
  const detector = await all.join(white)
  for (const other of others) {
    await all.arbiter.sessions.join(other)
    await all.heartbeat(other)
  }
  await detector.start()
  return { ...all, detector }
}

/** The same, with black and red, when white has been cut off from both for twelve seconds. */
async function cutOff() {
  const all = await joined([black, red])
  const { deaf, settings, confirm } = all
  settings.silent = true
  settings.witness = () => Promise.reject(new Error('no way'))
  for (const member of ['black', 'red']) deaf.add(member)
  await confirm(12, [black, red])
  return all
}

describe('a failure detector', () => {
  it('sees itself and all members with heartbeats and live sessions', async () => {
    const { detector, confirm, fenced } = await joined([black, red])
    await confirm(20, [black, red])
    expect(idsOf(detector.view.members)).toEqual(['black', 'red', 'white'])
    expect(idsOf(detector.others)).toEqual(['black', 'red'])
    expect(fenced).toEqual([])
  })

  it('ends a silent member once, calls listeners, and deletes its heartbeat', async () => {
    const { arbiter, detector, deaf, fenced, ended, confirm } = await joined([black, red])
    let changes = 0
    detector.onChange(() => {
      changes++
    })
    deaf.add('red')
    await confirm(3, [black])
    expect([fenced, ended, changes]).toEqual([['red'], ['red'], 1])
    expect(idsOf(detector.view.members)).toEqual(['black', 'white'])
    expect(idsOf(await arbiter.heartbeats.heartbeats())).toEqual(['black', 'white'])
    expect(detector.hasEnded('red')).toBe(true)
    expect(await detector.proveEnded(red)).toBe(true)
    expect(fenced).toEqual(['red'])
  })

  it('ends one that refuses connections when it starts, and waits for nothing', async () => {
    const { env, arbiter, deaf, fenced, heartbeat, join } = house()
    const detector = await join(white)
    await arbiter.sessions.join(black)
    await heartbeat(black)
    deaf.add('black')
    await detector.start()
    expect([fenced, env.monotonicMs()]).toEqual([['black'], 0])
  })

  it('ends no member that a witness can reach', async () => {
    const { detector, deaf, fenced, settings, confirm } = await joined([black, red])
    settings.witness = async () => true
    deaf.add('red')
    await confirm(5, [black, red])
    expect(fenced).toEqual([])
    expect(idsOf(detector.view.members)).toContain('red')
  })

  it('ends no silent member that a witness can reach', async () => {
    const { deaf, mute, fenced, settings, confirm } = await joined([black, red])
    Object.assign(settings, { silent: true, witness: async () => true })
    for (const set of [deaf, mute]) set.add('red')
    await confirm(7, [black])
    expect(fenced).toEqual([])
  })

  it('does not count a witness that cannot be asked', async () => {
    const { deaf, fenced, settings, confirm } = await joined([black, red])
    settings.witness = () => Promise.reject(new Error('no way'))
    deaf.add('red')
    await confirm(2, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it('ends a member that answers if its heartbeat stops for eight seconds', async () => {
    const { fenced, mute, confirm } = await joined([black, red])
    mute.add('red')
    await confirm(7, [black, red])
    expect(fenced).toEqual([])
    await confirm(4, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it('ends a silent member without heartbeats, and not one with', async () => {
    const { deaf, mute, fenced, settings, confirm } = await joined([black, red])
    Object.assign(settings, { silent: true, witness: () => Promise.reject(new Error('no way')) })
    deaf.add('red').add('black')
    mute.add('red')
    await confirm(10, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it('that reaches nobody goes by heartbeats, since it may be cut off itself', async () => {
    const { deaf, mute, fenced, settings, confirm } = await joined([black, red])
    Object.assign(settings, { silent: true, witness: () => Promise.reject(new Error('no way')) })
    for (const set of [deaf, mute]) set.add('black').add('red')
    await confirm(7, [])
    mute.clear()
    await confirm(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('does not end a member that still replies on open connections', async () => {
    const { detector, deaf, mute, speaking, fenced, settings, confirm } = await joined([black, red])
    settings.silent = true
    speaking.add('red')
    for (const set of [deaf, mute]) set.add('red')
    await confirm(7, [black])
    expect(fenced).toEqual([])
    const asked = detector.reaches(red)
    await confirm(4, [black])
    expect(await asked).toBe(true)
    speaking.clear()
    await confirm(10, [black])
    expect(fenced).toEqual(['red'])
  })

  it('ends a member with heartbeats that nobody has reached for long', async () => {
    const { deaf, fenced, settings, confirm } = await joined([black, red])
    settings.silent = true
    deaf.add('red')
    await confirm(7, [black, red])
    expect(fenced).toEqual([])
    await confirm(13, [black, red])
    expect(fenced).toEqual(['red'])
  })

  it.each([
    ['stood still', 20_000],
    ['came late', 2_000],
  ])('is patient with a silent member after it %s itself', async (_, gapMs) => {
    const { env, deaf, fenced, settings } = await joined([black])
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
    const { env, deaf, fenced, settings, confirm } = await joined([black, red])
    settings.silent = true
    deaf.add('red')
    await confirm(1, [black, red])
    const clock = env.monotonicMs
    // A failure detector that is late itself waits longer for a heartbeat: meanwhile red answers
    // again.
    Object.assign(env, { monotonicMs: () => clock() + 2_000 })
    await confirm(3, [black, red])
    deaf.delete('red')
    await confirm(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('reads heartbeats before it ends a member, however long that takes', async () => {
    const { env, arbiter, deaf, fenced, settings, confirm } = await joined([black, red])
    const { heartbeats } = arbiter.heartbeats
    const slow = () =>
      new Promise<void>((done) => env.after(7_500, done))
        .then(() => heartbeats.call(arbiter.heartbeats))
    await confirm(1, [black, red])
    Object.assign(arbiter.heartbeats, { heartbeats: slow })
    settings.silent = true
    await confirm(2, [black, red])
    deaf.add('red')
    await confirm(4, [black, red])
    deaf.delete('red')
    Object.assign(arbiter.heartbeats, { heartbeats })
    await confirm(15, [black, red])
    expect(fenced).toEqual([])
  })

  it('ends no silent member whose heartbeats it could not read either', async () => {
    const { arbiter, deaf, fenced, settings, confirm } = await joined([black, red])
    settings.silent = true
    deaf.add('red')
    const back = loseHeartbeats(arbiter)
    await confirm(7, [black, red])
    expect(fenced).toEqual([])
    back()
    deaf.delete('red')
    await confirm(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('gives a silent member time for a heartbeat when the store is back for both', async () => {
    const { arbiter, deaf, mute, fenced, settings, confirm } = await joined([black, red])
    settings.silent = true
    await confirm(1, [black, red])
    const back = loseHeartbeats(arbiter)
    deaf.add('red')
    mute.add('red')
    await confirm(6, [black, red])
    back()
    await confirm(2, [black, red])
    mute.delete('red')
    deaf.delete('red')
    await confirm(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('that reached nobody a moment ago ends nobody who is silent yet', async () => {
    const { deaf, fenced, settings, confirm } = await cutOff()
    // The way is free again; the machine is so busy that a witness waits in vain for red.
    settings.witness = async () => false
    deaf.delete('black')
    await confirm(7, [black])
    deaf.delete('red')
    await confirm(20, [black, red])
    expect(fenced).toEqual([])
  })

  it('that reached nobody a moment ago ends nobody whose connections break', async () => {
    const { fenced, settings, confirm } = await cutOff()
    settings.silent = false
    await confirm(3, [black, red])
    expect(fenced).toEqual([])
    await confirm(10, [black, red])
    expect(fenced.toSorted()).toEqual(['black', 'red'])
  })

  it('probes a silent member until it answers, even if it is not its neighbour', async () => {
    const more = ['a', 'b', 'c'].map((id): Member => ({ id, address: `${id}:1` }))
    const all = [...more, black, red]
    const { detector, deaf, fenced, settings, confirm } = await joined(all)
    settings.silent = true
    for (let round = 0; round < 2; round++) {
      deaf.add('red')
      detector.doubt(red)
      await confirm(4, all)
      deaf.delete('red')
      await confirm(30, all)
    }
    expect(fenced).toEqual([])
  })

  it('ends nobody if it could not reach the store itself', async () => {
    const { env, arbiter, fenced, confirm } = await joined([black])
    const back = loseHeartbeats(arbiter)
    await confirm(20, [])
    back()
    await passTime(env, 7_000)
    expect(fenced).toEqual([])
  })

  it('ends nobody while its own session is not known to be alive', async () => {
    const { detector, deaf, fenced, settings, confirm } = await joined([black])
    settings.judges = false
    deaf.add('black')
    await confirm(3, [black])
    expect([fenced, idsOf(detector.view.members)]).toEqual([[], ['black', 'white']])
    settings.judges = true
    await confirm(1, [black])
    expect(fenced).toEqual(['black'])
  })

  it('ignores a late heartbeat of a member that has ended', async () => {
    const { arbiter, detector, heartbeat, confirm } = await joined([black])
    arbiter.end('red')
    await heartbeat(red)
    await confirm(2, [black, red])
    expect(idsOf(detector.others)).toEqual(['black'])
    expect(detector.hasEnded('red')).toBe(true)
  })

  it('leaves a leaving member out of the view, and still knows it', async () => {
    const { detector, heartbeat, confirm } = await joined([black])
    await heartbeat(black, true)
    await detector.look()
    expect([idsOf(detector.view.members), idsOf(detector.others)]).toEqual([['white'], ['black']])
    await confirm(1, [])
    await detector.leave()
    expect(detector.view.members).toEqual([])
  })

  it('drops a member whose heartbeat is gone, and stops when it is closed', async () => {
    const { env, arbiter, detector, ended } = await joined([black])
    await arbiter.heartbeats.forget('black')
    await detector.look()
    expect([idsOf(detector.view.members), ended]).toEqual([['white'], ['black']])
    await detector.close()
    expect([env.timers(), await arbiter.heartbeats.heartbeats()]).toEqual([0, []])
  })

  it('leaves no heartbeat once it is closed', async () => {
    const { arbiter, detector } = await joined([black])
    await detector.close()
    await detector.look()
    expect(idsOf(await arbiter.heartbeats.heartbeats())).toEqual(['black'])
  })

  it('proves an end by a fence, and not of a member that it sees or that answers', async () => {
    const { arbiter, detector, deaf, fenced } = await joined([black])
    await arbiter.sessions.join(red)
    expect([await detector.proveEnded(black), await detector.proveEnded(red)]).toEqual(
      [false, false],
    )
    deaf.add('red')
    expect(await detector.proveEnded(red)).toBe(true)
    const left: Member = { id: 'left', address: 'left:1' }
    await arbiter.sessions.join(left)
    arbiter.end('left', 'left')
    expect(await detector.proveEnded(left)).toBe(true)
    expect(fenced).toEqual(['red', 'left'])
  })

  it('does not prove the end of a new member that is silent', async () => {
    const { arbiter, detector, deaf, fenced, settings, heartbeat, confirm } = await joined([black])
    await arbiter.sessions.join(red)
    await heartbeat(red)
    settings.silent = true
    deaf.add('red')
    const proven = detector.proveEnded(red)
    await confirm(8, [black, red])
    expect([await proven, fenced]).toEqual([false, []])
    expect(idsOf(detector.view.members)).toContain('red')
  })

  it('proves the end of a new member that refuses connections', async () => {
    const { arbiter, detector, deaf, fenced, heartbeat } = await joined([black])
    await arbiter.sessions.join(red)
    await heartbeat(red)
    deaf.add('red')
    expect([await detector.proveEnded(red), fenced]).toEqual([true, ['red']])
  })

  it('of a front door sees members, leaves no heartbeat and ends nobody', async () => {
    const { arbiter, heartbeat, deaf, fenced, join, confirm } = house()
    await arbiter.sessions.join(black)
    await heartbeat(black)
    const detector = await join(white, false)
    await detector.start()
    deaf.add('black')
    await confirm(12, [])
    expect([idsOf(detector.view.members), fenced]).toEqual([['black'], []])
    expect(idsOf(await arbiter.heartbeats.heartbeats())).toEqual(['black'])
  })
})
