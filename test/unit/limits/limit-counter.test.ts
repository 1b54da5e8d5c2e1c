/** The exact counter: never more than the limit in any window, and hardly less under load. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { LimitCounter } from '../../../src/limits/limit-counter.ts'
import type { Lease } from '../../../src/limits/limit-counter.ts'
import { expectAlways } from '../../support/expect-always.ts'

const counterOf = (count: number, intervalMs: number, holds = false) =>
  new LimitCounter({ count, intervalMs }, { name: 'life', holds })

/** The largest number of moments in any window of that length, both ends included. */
function mostWithin(windowMs: number, moments: readonly number[]): number {
  const sorted = moments.toSorted((a, b) => a - b)
  let from = 0
  return sorted.reduce((most, moment, index) => {
    while (sorted[from]! < moment - windowMs) from++
    return Math.max(most, index - from + 1)
  }, 0)
}

const step = fc.record({
  pauseMs: fc.oneof(fc.nat(6), fc.nat(200), fc.integer({ min: 990, max: 1_002 })),
  waiting: fc.oneof(fc.nat(12), fc.constant(60)),
  perSecond: fc.oneof(fc.nat(200), fc.nat(5_000)),
  delayMs: fc.nat(4),
  /** When the tokens of the lease are used, as fractions of its time. */
  uses: fc.array(fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })), {
    maxLength: 12,
  }),
  /** How long after the last use the counter learns of its end; undefined: never. */
  reportedMs: fc.option(fc.nat(150), { nil: undefined }),
})

interface Ending {
  readonly reportedMs: number
  readonly id: string
  readonly moments: readonly number[]
}

describe('a counter', () => {
  it('admits no more than the limit in any window, whenever leased tokens are used', () => {
    expectAlways(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.array(step, { maxLength: 60 }),
        (count, steps) => {
          const counter = counterOf(count, 1_000)
          const used: number[] = []
          let endings: Ending[] = []
          let nowMs = 0
          for (const { pauseMs, waiting, perSecond, delayMs, uses, reportedMs } of steps) {
            // A door asks at `askedMs`. The counter hears it later. The lease runs from the asking.
            const askedMs = nowMs + pauseMs
            nowMs = askedMs + delayMs
            for (const { id, moments } of endings.filter((ending) =>
              ending.reportedMs <= askedMs
            )) {
              // The door computed these ages when it asked; the counter gets them later.
              counter.end(nowMs, { id, used: moments.map((moment) => [askedMs - moment, 1]) })
            }
            endings = endings.filter((ending) => ending.reportedMs > askedMs)
            const { admitted, lease } = counter.take(nowMs, { waiting, perSecond })
            expect(admitted).toBeLessThanOrEqual(waiting)
            for (let token = 0; token < admitted; token++) used.push(nowMs)
            if (lease === undefined) continue
            const moments = uses.slice(0, lease.tokens)
              .map((part) => askedMs + part * lease.goodMs)
              .filter((moment) => moment >= nowMs)
            used.push(...moments)
            if (reportedMs === undefined) continue
            endings.push({ reportedMs: Math.max(askedMs, ...moments) + reportedMs, id: lease.id,
              moments })
          }
          expect(mostWithin(1_000, used)).toBeLessThanOrEqual(count)
        }),
      { share: 3 },
    )
  })

  it('admits all of the limit if more is asked for, and does not count refused requests', () => {
    expectAlways(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 2, max: 9 }),
        (count, times) => {
          const counter = counterOf(count, 1_000)
          const everyMs = 1_000 / (count * times)
          let admitted = 0
          for (let nowMs = 0; nowMs < 3_000; nowMs += everyMs) {
            admitted += counter.take(nowMs, { waiting: 1, perSecond: 0 }).admitted
          }
          // Each later window begins with the next request.
          expect(admitted).toBeGreaterThanOrEqual(0.99 * 3 * count - 2)
        }),
      { share: 3 },
    )
  })

  it('is used to 99 % with leases as well if doors report when they used them', () => {
    const limit = { count: 1_000, intervalMs: 10_000 }
    const counter = counterOf(limit.count, limit.intervalMs)
    let used = 0
    let ended: { readonly lease: Lease; readonly usedMs: number } | undefined
    for (let nowMs = 0; nowMs < 30_000; nowMs += 50) {
      if (ended !== undefined) {
        const { lease: { id, tokens }, usedMs } = ended
        counter.end(nowMs, { id, used: [[nowMs - usedMs, Math.floor(tokens / 2)]] })
      }
      const { admitted, lease } = counter.take(nowMs, { waiting: 5, perSecond: 800 })
      used += admitted
      ended = lease && { lease, usedMs: nowMs + 1 }
      if (lease !== undefined) used += Math.floor(lease.tokens / 2)
    }
    expect(used).toBeGreaterThanOrEqual(0.99 * 3 * limit.count)
  })

  it('gives the time after which it admits again, not earlier and not later', () => {
    expectAlways(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(fc.nat(400), { minLength: 1 }),
        (count, pauses) => {
          const counter = counterOf(count, 1_000)
          let nowMs = 0
          for (const pauseMs of pauses) {
            nowMs += pauseMs
            const { remaining, waitMs } = counter.take(nowMs, { waiting: 3, perSecond: 30 })
            if (remaining > 0) {
              expect(waitMs).toBe(0)
              continue
            }
            expect(counter.remaining(nowMs + waitMs - 1)).toBe(0)
            expect(counter.remaining(nowMs + waitMs)).toBeGreaterThan(0)
            return
          }
        }),
      { share: 3 },
    )
  })

  it('counts used tokens of an ended lease from their use on, once, if that is its own', () => {
    const counter = counterOf(160, 10_000)
    const { lease } = counter.take(0, { waiting: 0, perSecond: 10 })
    expect(lease).toMatchObject({ tokens: 10, goodMs: 1_000 })
    counter.end(500, { id: 'another life:1', used: [] })
    expect(counter.remaining(500)).toBe(150)
    counter.take(450, { waiting: 1, perSecond: 0 })
    const seen = { id: lease!.id, used: [[400, 4], [300, 2]] } as const
    counter.end(500, seen)
    expect(counter.remaining(500)).toBe(153)
    counter.end(500, seen)
    expect(
      [10_100, 10_101, 10_200, 10_201, 10_450, 10_451].map((nowMs) => counter.remaining(nowMs)),
    ).toEqual([153, 157, 157, 159, 159, 160])
  })

  it('counts a lease without a reported end for the whole interval after it', () => {
    const counter = counterOf(160, 10_000)
    counter.take(0, { waiting: 0, perSecond: 10 })
    expect(counter.remaining(11_000)).toBe(150)
    expect(counter.remaining(11_001)).toBe(160)
  })

  it('leases a part of what is left, shorter the less is left, and nothing of little', () => {
    const counter = counterOf(100, 10_000)
    const leaseOf = (waiting: number) => counter.take(0, { waiting, perSecond: 1_000 }).lease
    expect(leaseOf(0)).toMatchObject({ tokens: 6, goodMs: 1_000 })
    expect(leaseOf(50)).toMatchObject({ tokens: 2, goodMs: 50 })
    expect(leaseOf(35)).toBeUndefined()
  })

  it('counts what others admitted, and of too much only what still matters', () => {
    const counter = counterOf(10, 1_000)
    counter.count(0, 8)
    counter.count(500, 8)
    expect(counter.remaining(500)).toBe(0)
    expect(counter.remaining(1_001)).toBe(2)
    expect(counter.remaining(1_501)).toBe(10)
  })
})

describe('a counter that stores admissions first', () => {
  it('admits no more in any window, however long storing takes', () => {
    const steps = fc.array(
      fc.record({ pauseMs: fc.nat(300), waiting: fc.nat(6), writesMs: fc.nat(900) }),
      { minLength: 10, maxLength: 60 },
    )
    expectAlways(fc.property(fc.integer({ min: 1, max: 8 }), steps, (count, all) => {
      const counter = counterOf(count, 1_000, true)
      const writing: { doneMs: number; tokens: number }[] = []
      const admitted: number[] = []
      const settle = (untilMs: number) => {
        for (const each of writing.toSorted((a, b) => a.doneMs - b.doneMs)) {
          if (each.doneMs > untilMs) return
          writing.splice(writing.indexOf(each), 1)
          counter.release(each.doneMs, each.tokens)
          for (let token = 0; token < each.tokens; token++) admitted.push(each.doneMs)
        }
      }
      let nowMs = 0
      for (const { pauseMs, waiting, writesMs } of all) {
        nowMs += pauseMs
        settle(nowMs)
        const grant = counter.take(nowMs, { waiting, perSecond: 50 })
        expect(grant.lease).toBeUndefined()
        expect(Number.isFinite(grant.waitMs)).toBe(true)
        if (grant.admitted > 0) {
          writing.push({ doneMs: nowMs + writesMs, tokens: grant.admitted })
        }
      }
      settle(Infinity)
      expect(mostWithin(1_000, admitted)).toBeLessThanOrEqual(count)
    }), { share: 3 })
  })
})
