/** The use of limits: it can be read without a charge and without a counter, and is exact. */

import { describe, expect, it } from 'vitest'

import { limitUseService, LiveCounters, RefusedCallers,
  totalUse } from '../../../src/limits/index.ts'
import type { LimitUse } from '../../../src/limits/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { LimitWorld } from './limit-world.ts'

const key = { row: 'tested', who: 'somebody' }

/** The use that the members of a world know of together: the counter is with the first one. */
async function useIn(world: LimitWorld): Promise<LimitUse> {
  const uses = await Promise.all(world.doors.map(async (clients, index) => {
    const counters = index === 0 ? world.live : new LiveCounters()
    const service = limitUseService({ counters, clients, refused: new RefusedCallers(world.env) })
    const { uses: [use] } = await service.answer({ what: 'use', tenant: 't', keys: [key] })
    return use!
  }))
  return totalUse(uses)
}

describe('the use of a limit', () => {
  it('is what was let through, and reading it changes nothing', async () => {
    const world = new LimitWorld({ count: 10 })
    expect(await useIn(world)).toEqual({ used: 0, waitMs: 0, refused: 0 })
    for (let n = 0; n < 4; n++) {
      world.request(n % 3)
      await world.pass(100)
    }
    const asked = world.asked
    for (let n = 0; n < 50; n++) expect(await useIn(world)).toMatchObject({ used: 4 })
    expect(world.asked).toBe(asked)
    // All that is left can still be used.
    for (let n = 0; n < 8; n++) world.request(0)
    await world.pass(10)
    expect([world.admitted.length, world.refusals.length]).toEqual([10, 2])
    expect(await useIn(world)).toMatchObject({ used: 10 })
  })

  it('says when there is more', async () => {
    const world = new LimitWorld({ count: 10, intervalMs: 10_000 })
    world.request(0)
    await world.pass(4_000, 10)
    expect(await useIn(world)).toMatchObject({ used: 1, waitMs: expect.closeTo(6_000, -2) })
    await world.pass(6_100, 10)
    expect(await useIn(world)).toEqual({ used: 0, waitMs: 0, refused: 0 })
  })

  it('leaves out tokens that a front door holds and has not used', async () => {
    const world = new LimitWorld({ count: 1_000 })
    for (let n = 0; n < 60; n++) {
      world.request(0)
      await world.pass(5)
      // Leases are being asked for all the time, and some of their tokens are never used.
      const { used } = await useIn(world)
      expect(Math.abs(used - world.admitted.length)).toBeLessThanOrEqual(2)
    }
  })

  it('comes from the front doors when the counter is lost', async () => {
    const world = new LimitWorld({ count: 10 })
    for (const door of [0, 1, 1]) world.request(door)
    await world.pass(10)
    world.failOver()
    expect(await useIn(world)).toMatchObject({ used: 3 })
  })

  it('makes no counter', async () => {
    const world = new LimitWorld()
    await useIn(world)
    expect([world.asked, world.live.size]).toEqual([0, 0])
  })
})

describe('refused callers', () => {
  it('are remembered by tenant, the last ones first, and not too many', () => {
    const env = virtualEnv()
    const refused = new RefusedCallers(env)
    for (let n = 0; n < 300; n++) {
      env.advance(1_000)
      refused.note('a', { row: 'default-key', who: `key ${n}` }, { keyId: `k${n}` })
    }
    refused.note('b', { row: 'default-key', who: 'other' }, { keyId: 'other' })
    refused.note('a', { row: 'default-key', who: 'key 150' }, { keyId: 'k150' })
    const [first, ...others] = refused.of('a')
    expect(first).toEqual({ name: { keyId: 'k150' }, row: 'default-key', refused: 2,
      lastMs: env.nowMs() })
    expect(others).toHaveLength(199)
    expect(refused.countOf('a', { row: 'default-key', who: 'key 150' })).toBe(2)
    expect(refused.countOf('b', { row: 'default-key', who: 'key 150' })).toBe(0)
    expect(refused.of('c')).toEqual([])
  })
})
