/** Front doors that share the counter of a limit, in virtual time. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { admitPatienceMs, clocksApartMs } from '../../../../src/records/index.ts'
import { LimitWorld, mostWithin } from './limit-world.ts'

const step = fc.record({ pauseMs: fc.oneof(fc.nat(5), fc.nat(80)), door: fc.nat(2),
  requests: fc.nat(30) })

/** As many times the limit through all doors in turn, for so many windows. */
async function hammer(world: LimitWorld, times: number, windows: number): Promise<void> {
  const { count, intervalMs } = world.row
  const everyMs = 10
  const perStep = times * count * everyMs / intervalMs
  let due = 0
  for (let passed = 0; passed < windows * intervalMs; passed += everyMs) {
    for (due += perStep; due >= 1; due--) world.request(Math.floor(due + passed / everyMs) % 3)
    await world.pass(everyMs, everyMs)
  }
}

describe('front doors together', () => {
  it('let through no more than the limit in any window, however long the ways are', async () => {
    await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 80 }), fc.nat(40),
      fc.array(step, { minLength: 20, maxLength: 60 }), async (count, wayMs, steps) => {
        const world = new LimitWorld({ count, intervalMs: 1_000 })
        world.wayMs = wayMs
        for (const { pauseMs, door, requests } of steps) {
          for (let request = 0; request < requests; request++) world.request(door)
          await world.pass(pauseMs)
        }
        expect(world.failures).toEqual([])
        expect(mostWithin(1_000, world.admitted)).toBeLessThanOrEqual(count)
      }), { numRuns: 60 })
  })

  it('let through 99 % of it and no more at five times the limit', async () => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 })
    world.wayMs = 1
    await hammer(world, 5, 3)
    expect(world.admitted.length).toBeGreaterThanOrEqual(0.99 * 3_000)
    expect(mostWithin(10_000, world.admitted)).toBeLessThanOrEqual(1_000)
  })

  it.each([0.95, 1])('let through 99 %% in each window at %d times the limit', async (times) => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 })
    world.wayMs = 5
    const due = 0.99 * times * 1_000
    for (let window = 1; window <= 4; window++) {
      await hammer(world, times, 1)
      expect(world.admitted.length).toBeGreaterThanOrEqual(window * due)
    }
    expect(mostWithin(10_000, world.admitted)).toBeLessThanOrEqual(1_000)
  })

  it('ask seldom for a key that is hot, and for one that is refused once a second', async () => {
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

  it('let nobody wait who comes now and then, and ask little for him', async () => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 })
    world.wayMs = 5
    for (let request = 0; request < 60; request++) {
      world.request(request % 3)
      await world.pass(200)
    }
    const waited = world.admitted.filter(({ sentMs, heardMs }) => heardMs > sentMs + world.wayMs)
    expect(world.admitted).toHaveLength(60)
    expect(waited.length).toBeLessThanOrEqual(6)
    expect(world.asked).toBeLessThanOrEqual(61)
  })

  it('lease nothing for whoever comes more seldom than a lease lasts', async () => {
    const world = new LimitWorld({ count: 1_000, intervalMs: 10_000 }, 1)
    world.wayMs = 5
    for (let request = 0; request < 20; request++) {
      world.request(0)
      await world.pass(1_100, 5)
    }
    expect(world.asked).toBe(20)
  })

  it('give back what they leased and did not use', async () => {
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

  it('tell whoever is refused when to come again, and are right', async () => {
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
  it('counts how requests fare', async () => {
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
      { admitted: 31, near: 7, refused: 10, alone: 1, failed: 0 })
  })
})

describe('a counter that is out of reach', () => {
  it('leaves each front door its share where the row is open, and hears of it later', async () => {
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

  it('that is only slow is not waited for for ever', async () => {
    const world = new LimitWorld({ count: 90, intervalMs: 10_000 })
    world.wayMs = 5_000
    world.request(0)
    await world.pass(2_490, 10)
    expect(world.admitted).toHaveLength(0)
    await world.pass(20, 10)
    expect(world.admitted).toHaveLength(1)
  })

  it('that is slow is waited for longer where the row is closed', async () => {
    const world = new LimitWorld({ durable: true, without: 'closed' })
    world.wayMs = 2_000
    world.request(0)
    await world.pass(4_010, 10)
    expect(world.admitted).toHaveLength(1)
    world.wayMs = 3_000
    world.request(0)
    await world.pass(5_010, 10)
    expect(world.failures).toHaveLength(1)
  })

  it('is answered 503 where the row is closed, and goes on when it is back', async () => {
    const world = new LimitWorld({ durable: true, without: 'closed' })
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

  it('is what a store out of reach makes of a durable one', async () => {
    const world = new LimitWorld({ durable: true, without: 'closed' })
    world.table.failing = true
    world.request(0)
    await world.pass(1)
    expect(world.admitted).toHaveLength(0)
    expect(world.failures.map((error) => HeddleError.from(error).code)).toEqual(['unavailable'])
  })
})

describe('a counter after a failover', () => {
  it('of a durable row knows every one that was let through', async () => {
    await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.array(fc.record({
      pauseMs: fc.nat(900), requests: fc.nat(20), failsOver: fc.boolean(), wayMs: fc.nat(20),
    }), { maxLength: 30 }), async (count, steps) => {
      const world = new LimitWorld({ count, intervalMs: 2_000, durable: true, without: 'closed' })
      for (const { pauseMs, requests, failsOver, wayMs } of steps) {
        world.wayMs = wayMs
        for (let request = 0; request < requests; request++) world.request(request % 3)
        await world.pass(pauseMs, 10)
        if (failsOver) world.failOver()
      }
      expect(mostWithin(2_000, world.admitted)).toBeLessThanOrEqual(count)
    }), { numRuns: 60 })
  })

  it('of a durable row counts longer, by what it cannot know of clocks and ways', async () => {
    const intervalMs = 4 * clocksApartMs
    const world = new LimitWorld({ count: 1, intervalMs, durable: true, without: 'closed' })
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

  it('of a durable row lets nobody through early, by whatever clock it counts', async () => {
    const intervalMs = 4 * clocksApartMs
    const world = new LimitWorld({ count: 1, intervalMs, durable: true, without: 'closed' })
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
    expect(second!.heardMs - first!.heardMs).toBeGreaterThan(intervalMs)
  })

  it('of any row lets through no more, though the one before it is heard late', async () => {
    await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 80 }), fc.array(fc.record({
      pauseMs: fc.nat(100), requests: fc.nat(30), failsOver: fc.boolean(), wayMs: fc.nat(40),
    }), { minLength: 5, maxLength: 40 }), async (count, steps) => {
      const world = new LimitWorld({ count, intervalMs: 1_000 })
      for (const { pauseMs, requests, failsOver, wayMs } of steps) {
        world.wayMs = wayMs
        for (let request = 0; request < requests; request++) world.request(request % 3)
        await world.pass(pauseMs)
        if (failsOver) world.failOver()
      }
      expect(mostWithin(1_000, world.admitted)).toBeLessThanOrEqual(count)
    }), { numRuns: 60 })
  })

  it('of any row learns from the front doors that are there', async () => {
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
    // What the door that is gone let through nobody knows any more.
    expect(world.admitted).toHaveLength(200)
  })
})
