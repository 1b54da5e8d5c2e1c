/** Front doors that share the counter of a limit, in virtual time. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { admitPatienceMs, clocksApartMs } from '../../../src/limits/index.ts'
import { LimitWorld, mostWithin } from './limit-world.ts'
import { expectAlways } from '../../support/expect-always.ts'

const step = fc.record({ pauseMs: fc.oneof(fc.nat(5), fc.nat(80)), door: fc.nat(2),
  requests: fc.nat(30) })

/** Sends `times` times the limit, through all doors in turn, for a number of windows. */
async function hammer(world: LimitWorld, times: number, windows: number): Promise<void> {
  const { count, intervalMs } = world.limit
  const everyMs = 10
  const perStep = times * count * everyMs / intervalMs
  let due = 0
  for (let passed = 0; passed < windows * intervalMs; passed += everyMs) {
    for (due += perStep; due >= 1; due--) world.request(Math.floor(due + passed / everyMs) % 3)
    await world.pass(everyMs, everyMs)
  }
}

describe('front doors together', () => {
  it('admit no more than the limit in any window, at any latency', async () => {
    await expectAlways(
      fc.asyncProperty(fc.integer({ min: 1, max: 80 }), fc.nat(40),
        fc.array(step, { minLength: 20, maxLength: 60 }), async (count, wayMs, steps) => {
        const world = new LimitWorld({ count, intervalMs: 1_000 })
        world.wayMs = wayMs
        for (const { pauseMs, door, requests } of steps) {
          for (let request = 0; request < requests; request++) world.request(door)
          await world.pass(pauseMs)
        }
        expect(world.failures).toEqual([])
        expect(mostWithin(1_000, world.admitted)).toBeLessThanOrEqual(count)
      }),
      { share: 5 },
    )
  })

  it('admit 99 % of the limit, and no more than it, at five times the limit', async () => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 })
    world.wayMs = 1
    await hammer(world, 5, 3)
    expect(world.admitted.length).toBeGreaterThanOrEqual(0.99 * 3_000)
    expect(mostWithin(10_000, world.admitted)).toBeLessThanOrEqual(1_000)
  })

  it.each([0.95, 1])('admit 99 %% in each window at %d times the limit', async (times) => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 })
    world.wayMs = 5
    const due = 0.99 * times * 1_000
    for (let window = 1; window <= 4; window++) {
      await hammer(world, times, 1)
      expect(world.admitted.length).toBeGreaterThanOrEqual(window * due)
    }
    expect(mostWithin(10_000, world.admitted)).toBeLessThanOrEqual(1_000)
  })

  it('ask seldom about a hot key, and about once a second for one that is refused', async () => {
    const world = new LimitWorld({ count: 2_000, intervalMs: 10_000 }, 1)
    world.wayMs = 1
    for (let ms = 0; ms < 1_000; ms++) {
      world.request(0)
      await world.pass(1)
    }
    expect(world.admitted).toHaveLength(1_000)
    expect(world.asked).toBeLessThan(100)
    for (let request = 0; request < 3_000; request++) world.request(0)
    await world.pass(10)
    const before = world.asked
    for (let ms = 0; ms < 3_000; ms++) {
      world.request(0)
      await world.pass(1)
    }
    expect(world.admitted).toHaveLength(2_000)
    expect(world.asked - before).toBeLessThanOrEqual(4)
  })

  it('admit a client that comes now and then mostly without a question first', async () => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 })
    world.wayMs = 5
    for (let request = 0; request < 60; request++) {
      world.request(request % 3)
      await world.pass(200)
    }
    const waited = world.admitted.filter(
      ({ sentMs, lastSeenMs }) => lastSeenMs > sentMs + world.wayMs,
    )
    expect(world.admitted).toHaveLength(60)
    expect(waited.length).toBeLessThanOrEqual(6)
    expect(world.asked).toBeLessThanOrEqual(61)
  })

  it('lease nothing for a client that comes more seldom than a lease lasts', async () => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 }, 1)
    world.wayMs = 5
    for (let request = 0; request < 20; request++) {
      world.request(0)
      await world.pass(1_100, 5)
    }
    expect(world.asked).toBe(20)
  })

  it('give back the tokens that they leased and did not use', async () => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 })
    world.wayMs = 1
    for (const door of [0, 1, 2]) {
      for (let ms = 0; ms < 40; ms++) {
        world.request(door)
        await world.pass(1)
      }
    }
    await world.pass(1_100)
    const used = world.admitted.length
    for (let request = 0; request < 1_000; request++) world.request(0)
    await world.pass(10)
    expect(world.admitted.length).toBe(1_000)
    expect(used).toBe(120)
  })

  it('tell a refused client the time after which it is admitted', async () => {
    const world = new LimitWorld({ count: 10, intervalMs: 1_000 })
    for (let request = 0; request < 11; request++) world.request(0)
    await world.pass(1)
    expect(world.refusals).toEqual([1_001])
    await world.pass(999)
    world.request(1)
    await world.pass(1)
    expect(world.admitted).toHaveLength(10)
    world.request(1)
    await world.pass(1)
    expect(world.admitted).toHaveLength(11)
  })
})

describe('a front door', () => {
  it('counts admitted and refused requests', async () => {
    const world = new LimitWorld({ count: 30, intervalMs: 10_000 }, 1)
    const [door] = world.doors
    for (let request = 0; request < 40; request++) {
      world.request(0)
      await world.pass(1)
    }
    expect(door!.tallies.get('tested')).toMatchObject({ admitted: 30, refused: 10, alone: 0 })
    expect(door!.tallies.get('tested')!.near).toBe(6)
    await world.pass(12_000, 500)
    expect(door!.size).toBe(0)
    world.cut = true
    world.request(0)
    await world.pass(1)
    expect(door!.tallies.get('tested')).toEqual(
      { admitted: 31, near: 7, refused: 10, alone: 1, failed: 0 },
    )
  })
})

describe('a counter that is unreachable', () => {
  it('leaves each front door its share if the row is open, and learns of that later', async () => {
    const world = new LimitWorld({ count: 90, intervalMs: 10_000 })
    world.cut = true
    for (let request = 0; request < 90; request++) world.request(0)
    await world.pass(5)
    expect(world.admitted).toHaveLength(30)
    world.cut = false
    await world.pass(600, 50)
    for (let request = 0; request < 90; request++) world.request(1)
    await world.pass(5)
    expect(world.admitted).toHaveLength(90)
    expect(world.failures).toEqual([])
  })

  it('is given up after 2.5 s if it is only slow', async () => {
    const world = new LimitWorld({ count: 90, intervalMs: 10_000 })
    world.wayMs = 5_000
    world.request(0)
    await world.pass(2_490, 10)
    expect(world.admitted).toHaveLength(0)
    await world.pass(20, 10)
    expect(world.admitted).toHaveLength(1)
  })

  it('lets no more through than the limit, and what front doors let through alone', async () => {
    const part = fc.record({ ms: fc.nat(1_500), wayMs: fc.oneof(fc.nat(60), fc.nat(1_600)),
      failsOver: fc.boolean() })
    await expectAlways(
      fc.asyncProperty(fc.array(part, { minLength: 10, maxLength: 20 }), async (parts) => {
        const world = new LimitWorld({ count: 200, intervalMs: 4_000 })
        for (const { ms, wayMs, failsOver } of parts) {
          world.wayMs = wayMs
          if (failsOver) world.failOver()
          for (let passed = 0; passed < ms; passed += 5) {
            world.request(passed % 3)
            await world.pass(5, 5)
          }
        }
        const alone = world.doors.reduce(
          (sum, { tallies }) => sum + (tallies.get('tested')?.alone ?? 0),
          0,
        )
        expect(mostWithin(4_000, world.admitted)).toBeLessThanOrEqual(200 + alone)
      }),
      { share: 5 },
    )
  })

  it('is given up after 5 s if it is slow and the row is closed', async () => {
    const world = new LimitWorld({ durable: true, onOutage: 'deny' })
    world.wayMs = 2_000
    world.request(0)
    await world.pass(4_010, 10)
    expect(world.admitted).toHaveLength(1)
    world.wayMs = 3_000
    world.request(0)
    await world.pass(5_010, 10)
    expect(world.failures).toHaveLength(1)
  })

  it('is answered as unavailable if the row is closed, until it is back', async () => {
    const world = new LimitWorld({ durable: true, onOutage: 'deny' })
    world.cut = true
    world.request(0)
    await world.pass(1)
    expect(world.failures).toEqual([expect.objectContaining({ code: 'unavailable' })])
    world.cut = false
    await world.pass(600, 50)
    world.request(0)
    await world.pass(1)
    expect(world.admitted).toHaveLength(1)
  })

  it('is the result if the row is durable and the store is unreachable', async () => {
    const world = new LimitWorld({ durable: true, onOutage: 'deny' })
    world.table.failing = true
    world.request(0)
    await world.pass(1)
    expect(world.admitted).toHaveLength(0)
    expect(world.failures.map((error) => HeddleError.from(error).code)).toEqual(['unavailable'])
  })
})

describe('a counter after a failover', () => {
  it('of a durable row knows all admitted requests', async () => {
    await expectAlways(fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.array(fc.record({
      pauseMs: fc.nat(900),
      requests: fc.nat(20),
      failsOver: fc.boolean(),
      wayMs: fc.nat(20),
    }), { maxLength: 30 }), async (count, steps) => {
      const world = new LimitWorld({ count, intervalMs: 2_000, durable: true, onOutage: 'deny' })
      for (const { pauseMs, requests, failsOver, wayMs } of steps) {
        world.wayMs = wayMs
        for (let request = 0; request < requests; request++) world.request(request % 3)
        await world.pass(pauseMs, 10)
        if (failsOver) world.failOver()
      }
      expect(mostWithin(2_000, world.admitted)).toBeLessThanOrEqual(count)
    }), { share: 5 })
  })

  it('of a durable row counts longer, by what clocks and latency may differ', async () => {
    const intervalMs = 4 * clocksApartMs
    const world = new LimitWorld({ count: 1, intervalMs, durable: true, onOutage: 'deny' })
    world.request(0)
    await world.pass(2 * clocksApartMs, 100)
    world.failOver()
    world.request(1)
    await world.pass(3 * clocksApartMs + admitPatienceMs - 100, 100)
    world.request(1)
    await world.pass(10)
    expect(world.admitted).toHaveLength(1)
    await world.pass(200)
    world.request(1)
    await world.pass(1)
    expect(world.admitted).toHaveLength(2)
  })

  it('of a durable row admits nobody early, even by another clock', async () => {
    const intervalMs = 4 * clocksApartMs
    const world = new LimitWorld({ count: 1, intervalMs, durable: true, onOutage: 'deny' })
    world.writeMs = admitPatienceMs - 100
    world.request(0)
    await world.pass(admitPatienceMs, 100)
    world.writeMs = 0
    world.failOver(clocksApartMs - 100)
    while (world.admitted.length < 2) {
      world.request(1)
      await world.pass(100, 100)
    }
    const [first, second] = world.admitted
    expect(second!.lastSeenMs - first!.lastSeenMs).toBeGreaterThan(intervalMs)
  })

  it('of any row admits no more, even if answers of the earlier counter come late', async () => {
    await expectAlways(fc.asyncProperty(fc.integer({ min: 1, max: 80 }), fc.array(fc.record({
      pauseMs: fc.nat(100),
      requests: fc.nat(30),
      failsOver: fc.boolean(),
      wayMs: fc.nat(40),
    }), { minLength: 5, maxLength: 40 }), async (count, steps) => {
      const world = new LimitWorld({ count, intervalMs: 1_000 })
      for (const { pauseMs, requests, failsOver, wayMs } of steps) {
        world.wayMs = wayMs
        for (let request = 0; request < requests; request++) world.request(request % 3)
        await world.pass(pauseMs)
        if (failsOver) world.failOver()
      }
      expect(mostWithin(1_000, world.admitted)).toBeLessThanOrEqual(count)
    }), { share: 5 })
  })

  it('of any row learns what was admitted from the front doors that are alive', async () => {
    const world = new LimitWorld({ count: 90, intervalMs: 10_000 })
    for (const door of [0, 1, 2]) {
      for (let request = 0; request < 20; request++) world.request(door)
      await world.pass(5)
    }
    expect(world.admitted).toHaveLength(60)
    world.failOver()
    for (let request = 0; request < 90; request++) world.request(0)
    await world.pass(5)
    expect(world.admitted).toHaveLength(90)
    await world.pass(11_000, 500)
    for (let request = 0; request < 20; request++) world.request(2)
    await world.pass(5)
    world.failOver()
    world.gone.add(world.doors[2]!)
    for (let request = 0; request < 100; request++) world.request(0)
    await world.pass(40)
    expect(world.admitted).toHaveLength(110)
    await world.pass(1_000, 10)
    // What the dead door admitted is not known any more.
    expect(world.admitted).toHaveLength(200)
  })
})
