/** A member's session: from joining to leaving, or to the notice that it was fenced. */

import { describe, expect, it } from 'vitest'

import { openSession } from '../../../../cluster/index.ts'
import type { Member, SessionPort } from '../../../../cluster/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { Arbiter, plain, settle } from './arbiter.ts'

const white: Member = { id: 'white', address: 'board:2' }

/** A session at an arbiter with `changes`. */
async function opened(changes: Partial<SessionPort> = {}) {
  const env = virtualEnv()
  const arbiter = new Arbiter(plain)
  const fencings: string[] = []
  const session = await openSession({
    env,
    self: white,
    sessions: { ...arbiter.sessions, ...changes },
    onFenced: (reason) => fencings.push(reason),
  })
  return { env, arbiter, fencings, session }
}

describe('a session', () => {
  it('is alive from joining until leaving, and leaves no timer', async () => {
    const { env, arbiter, fencings, session } = await opened()
    expect([arbiter.alive('white'), session.check.state]).toEqual([true, 'open'])
    await session.check.confirm()
    await session.leave()
    expect([arbiter.alive('white'), env.timers(), fencings]).toEqual([false, 0, []])
  })

  it('does not open if the store does not answer', async () => {
    await expect(opened({ join: () => Promise.reject(new Error('no quorum')) }))
      .rejects.toThrow('no quorum')
  })

  it('acknowledges nothing from the moment it leaves', async () => {
    const left = Promise.withResolvers<void>()
    const { session } = await opened({ leave: () => left.promise })
    const leaving = session.leave()
    await expect(session.check.confirm()).rejects.toMatchObject({ code: 'not_owner' })
    left.resolve()
    await leaving
  })

  it('reports once that it was fenced, even if it is idle', async () => {
    const { env, arbiter, fencings, session } = await opened()
    arbiter.end('white')
    for (const _ of [1, 2, 3]) {
      env.advance(1_000)
      await settle()
    }
    expect(fencings).toEqual(['Another member fenced the session of this one and takes over.'])
    await expect(session.check.confirm()).rejects.toMatchObject({ code: 'not_owner' })
  })

  it('leaves with a warning if the store does not answer', async () => {
    const { env, session } = await opened({ leave: () => Promise.reject(new Error('no quorum')) })
    await session.leave()
    expect(env.lines.at(-1)?.level).toBe('warn')
  })

  it('is alive or not as the store says now', async () => {
    const { arbiter, session } = await opened()
    expect(await session.lives()).toBe(true)
    arbiter.end('white')
    expect(await session.lives()).toBe(false)
    expect(await session.lives()).toBe(false)
  })

  it('does not claim to be alive if the store does not answer', async () => {
    const { session } = await opened({ state: () => Promise.reject(new Error('no quorum')) })
    expect(await session.lives()).toBe(false)
    expect(session.check.state).toBe('closed')
    expect(await session.lives()).toBe(false)
  })
})
