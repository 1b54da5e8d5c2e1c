/** The exact counter: in no window more than the limit, and hardly fewer where all ask. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { leaseMsOf, LimitCounter } from '../../../src/records/limit-counter.ts'
import type { Lease } from '../../../src/records/limit-counter.ts'

const counterOf = (count: number, intervalMs: number, holds = false) =>
  new LimitCounter({ count, intervalMs }, { name: 'life', holds })

/** The most moments in any window of that length, both ends included. */
function mostWithin(windowMs: number, moments: readonly number[]): number {
  const sorted = moments.toSorted((a, b) => a - b)
  let from = 0
  return sorted.reduce((most, moment, place) => {
    while (sorted[from]! < moment - windowMs) from++
    return Math.max(most, place - from + 1)
  }, 0)
}

interface HeldLease extends Lease {
  readonly askedMs: number
}

const step = fc.record({
  pauseMs: fc.oneof(fc.nat(6), fc.nat(200), fc.integer({ min: 990, max: 1_002 })),
  waiting: fc.oneof(fc.nat(12), fc.constant(60)), ahead: fc.nat(12), delayMs: fc.nat(4),
  /** Of the lease, when its tokens are used: parts of its time. */
  uses: fc.array(fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
    { maxLength: 12 }),
  givesBack: fc.boolean(),
})

describe('a counter', () => {
  it('lets through no more than the limit in any window, leased tokens at any time used', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 60 }), fc.array(step, { maxLength: 60 }),
      (count, steps) => {
        const limit = { count, intervalMs: 1_000 }
        const counter = counterOf(count, 1_000)
        const used: number[] = []
        let nowMs = 0
        for (const { pauseMs, waiting, ahead, delayMs, uses, givesBack } of steps) {
          // It is asked now, and hears of it later; a lease runs from the asking.
          const askedMs = nowMs + pauseMs
          nowMs = askedMs + delayMs
          const { admitted, lease } = counter.take(nowMs, { waiting, ahead })
          expect(admitted).toBeLessThanOrEqual(waiting)
          for (let token = 0; token < admitted; token++) used.push(nowMs)
          if (lease === undefined) continue
          const held: HeldLease = { ...lease, askedMs }
          const moments = uses.slice(0, lease.tokens)
            .map((part) => held.askedMs + part * leaseMsOf(limit))
            .filter((moment) => moment >= nowMs)
          used.push(...moments)
          const left = lease.tokens - moments.length
          if (givesBack && left > 0) counter.giveBack({ id: lease.id, tokens: left })
        }
        expect(mostWithin(1_000, used)).toBeLessThanOrEqual(count)
      }), { numRuns: 2_000 })
  })

  it('lets through all of the limit where more is asked for, and refused ones do not count', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 2, max: 9 }),
      (count, times) => {
        const counter = counterOf(count, 1_000)
        const everyMs = 1_000 / (count * times)
        let admitted = 0
        for (let nowMs = 0; nowMs < 3_000; nowMs += everyMs) {
          admitted += counter.take(nowMs, { waiting: 1, ahead: 0 }).admitted
        }
        expect(admitted).toBeGreaterThanOrEqual(0.99 * 3 * count)
      }), { numRuns: 30 })
  })

  it('is used to 99 % with leases, too, by doors that give back what they do not use', () => {
    const limit = { count: 1_000, intervalMs: 10_000 }
    const counter = counterOf(limit.count, limit.intervalMs)
    let used = 0
    for (let nowMs = 0; nowMs < 30_000; nowMs += leaseMsOf(limit)) {
      const { admitted, lease } = counter.take(nowMs, { waiting: 5, ahead: 40 })
      used += admitted
      if (lease === undefined) continue
      used += Math.floor(lease.tokens / 2)
      counter.giveBack({ id: lease.id, tokens: Math.ceil(lease.tokens / 2) })
    }
    expect(used).toBeGreaterThanOrEqual(0.99 * 3 * limit.count)
  })

  it('says when to come again, and lets one through then and not before', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(400), { minLength: 1 }),
      (count, pauses) => {
        const counter = counterOf(count, 1_000)
        let nowMs = 0
        for (const pauseMs of pauses) {
          nowMs += pauseMs
          const { remaining, waitMs } = counter.take(nowMs, { waiting: 3, ahead: 3 })
          if (remaining > 0) {
            expect(waitMs).toBe(0)
            continue
          }
          expect(counter.remaining(nowMs + waitMs - 1)).toBe(0)
          expect(counter.remaining(nowMs + waitMs)).toBeGreaterThan(0)
          return
        }
      }))
  })

  it('takes tokens back once, and only those of its own leases', () => {
    const counter = counterOf(160, 10_000)
    const { lease } = counter.take(0, { waiting: 0, ahead: 10 })
    expect(lease!.tokens).toBe(10)
    counter.giveBack({ id: lease!.id, tokens: 4 })
    expect(counter.remaining(0)).toBe(154)
    counter.giveBack({ id: lease!.id, tokens: 100 })
    counter.giveBack({ id: lease!.id, tokens: 6 })
    counter.giveBack({ id: 'another life:1', tokens: 6 })
    expect(counter.remaining(0)).toBe(160)
  })

  it('leases nothing when little is left, and a part of what is left otherwise', () => {
    const counter = counterOf(100, 10_000)
    expect(counter.take(0, { waiting: 0, ahead: 1_000 }).lease?.tokens).toBe(6)
    counter.take(0, { waiting: 85, ahead: 0 })
    expect(counter.take(0, { waiting: 0, ahead: 5 }).lease).toBeUndefined()
  })

  it('counts what others let through, and of too much only what still matters', () => {
    const counter = counterOf(10, 1_000)
    counter.count(0, 8)
    counter.count(500, 8)
    expect(counter.remaining(500)).toBe(0)
    expect(counter.remaining(1_001)).toBe(2)
    expect(counter.remaining(1_501)).toBe(10)
  })
})

describe('a counter whose admits are written down first', () => {
  it('lets through no more in any window, however long the writing takes', () => {
    const steps = fc.array(fc.record({ pauseMs: fc.nat(300), waiting: fc.nat(6),
      writesMs: fc.nat(900) }), { minLength: 10, maxLength: 60 })
    fc.assert(fc.property(fc.integer({ min: 1, max: 8 }), steps, (count, all) => {
      const counter = counterOf(count, 1_000, true)
      const writing: { doneMs: number; tokens: number }[] = []
      const admitted: number[] = []
      const settle = (untilMs: number) => {
        for (const each of writing.toSorted((a, b) => a.doneMs - b.doneMs)) {
          if (each.doneMs > untilMs) return
          writing.splice(writing.indexOf(each), 1)
          counter.letGo(each.doneMs, each.tokens)
          for (let token = 0; token < each.tokens; token++) admitted.push(each.doneMs)
        }
      }
      let nowMs = 0
      for (const { pauseMs, waiting, writesMs } of all) {
        nowMs += pauseMs
        settle(nowMs)
        const grant = counter.take(nowMs, { waiting, ahead: 5 })
        expect(grant.lease).toBeUndefined()
        expect(Number.isFinite(grant.waitMs)).toBe(true)
        if (grant.admitted > 0) {
          writing.push({ doneMs: nowMs + writesMs, tokens: grant.admitted })
        }
      }
      settle(Infinity)
      expect(mostWithin(1_000, admitted)).toBeLessThanOrEqual(count)
    }))
  })
})
