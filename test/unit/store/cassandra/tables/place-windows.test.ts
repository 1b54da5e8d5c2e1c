/** Places of runs that Cassandra gives in no order, put into theirs. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { isNewer, mergePlaces } from '../../../../../src/store/cassandra/tables/merged-places.ts'
import { inWindows } from '../../../../../src/store/cassandra/tables/place-windows.ts'
import type { PlacedRun } from '../../../../../src/store/cassandra/tables/run-rows.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const nowMs = 1_800_000_000_000
const hourMs = 3_600_000

const placeAt = (createdAtMs: number, n = 0): PlacedRun => ({ createdAtMs, runId: `r${n}`,
  threadId: 't' })
const sorted = (places: readonly PlacedRun[]) =>
  places.toSorted((a, b) => (isNewer(a, b) ? -1 : isNewer(b, a) ? 1 : 0))

/** Reads all places, the last one of each window first, and counts what it asks and gets. */
async function readAll(all: readonly PlacedRun[],
  { fromMs = -1, untilMs = 9e15, size = 50, first = Infinity } = {}) {
  const seen = { windows: 0, places: 0 }
  const found: PlacedRun[] = []
  const read = async (from: number, until: number, most: number) => {
    const window = all.filter(({ createdAtMs }) => createdAtMs > from && createdAtMs <= until)
      .toReversed().slice(0, most)
    seen.windows++
    seen.places += window.length
    return window
  }
  for await (const page of inWindows({ read, nowMs, fromMs, untilMs, size })) {
    found.push(...page)
    if (found.length >= first) break
  }
  return { ...seen, found }
}

describe('windows of time', () => {
  it('give all places of a time in their order, whenever they were made', async () => {
    const time = fc.oneof(fc.integer({ min: -3, max: 3 }).map((n) => nowMs + n * 20_000),
      fc.integer({ min: 0, max: nowMs + 9 * hourMs }), fc.nat(3))
    await expectAlways(
      fc.asyncProperty(fc.array(time, { maxLength: 40 }), time, time, async (times, a, b) => {
        const all = times.map((at, n) => placeAt(at, n))
        expect((await readAll(all)).found).toEqual(sorted(all))
        const [fromMs, untilMs] = [Math.min(a, b), Math.max(a, b)]
        expect((await readAll(all, { fromMs, untilMs })).found)
          .toEqual(sorted(all).filter(({ createdAtMs: at }) => at > fromMs && at <= untilMs))
      }),
    )
  })

  it('are few where there is nothing, and small where there is much', async () => {
    expect(await readAll([])).toMatchObject({ windows: expect.toSatisfy((n: number) => n < 20) })
    // A page of a busy tenant takes little more than the page: each place is read by itself.
    const busy = Array.from({ length: 2_000 }, (_, n) => placeAt(nowMs - n * 100, n))
    expect(await readAll(busy, { first: 50 })).toMatchObject({
      places: expect.toSatisfy((n: number) => n < 100),
    })
    const many = Array.from({ length: 20_000 }, (_, n) => placeAt(nowMs - (n >> 1), n))
    const { found, windows, places } = await readAll(many)
    expect(found).toEqual(sorted(many))
    expect(windows).toBeLessThan(600)
    expect(places).toBeLessThan(3 * many.length)
  })

  it('have all places of one millisecond, however many', async () => {
    const many = Array.from({ length: 5_000 }, (_, n) => placeAt(nowMs, n))
    expect((await readAll(many)).found).toEqual(sorted(many))
  })
})

describe('places of several tables', () => {
  it('come in one order, and what several have comes once', async () => {
    const pages = fc.array(fc.array(fc.nat(30), { maxLength: 6 }), { maxLength: 5 })
    await expectAlways(
      fc.asyncProperty(fc.array(pages, { minLength: 1, maxLength: 3 }), async (sources) => {
        const own = sources.map((each) => [...new Set(each.flat())].sort((a, b) => b - a))
        const generators = own.map(async function*(times, n) {
          let at = 0
          for (const { length } of sources[n]!) {
            yield times.slice(at, at += length).map((each) => placeAt(each))
          }
        })
        const merged: number[] = []
        for await (const page of mergePlaces(generators)) {
          merged.push(...page.map(({ createdAtMs }) => createdAtMs))
        }
        expect(merged).toEqual([...new Set(own.flat())].sort((a, b) => b - a))
      }),
    )
  })
})
