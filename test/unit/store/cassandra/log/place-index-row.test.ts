/**
 * Place index rows: each place is carried by the next place index row row, and only few by one
 * mutation.
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { indexRowUpTo, pendingPlacesOf, inheritedOf,
  placeIn } from '../../../../../src/store/cassandra/log/place-index-row.ts'
import type { StatingRow } from '../../../../../src/store/cassandra/log/place-index-row.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const aRow = (seq: number, count = 1): StatingRow => ({
  epoch: 1,
  seq,
  places: Array.from({ length: count }, (_, index) => ({ id: `${seq} ${index}`, seq, base: 1 })),
})

/** What a writer makes carry what, from the first row on; `left` was not carried before that. */
function written(rows: readonly StatingRow[], left: readonly StatingRow[] = []) {
  let waiting = left
  const pendingOf = rows.map((row) => {
    const pendingPlaces = pendingPlacesOf(row, waiting)
    waiting = pendingPlaces.waiting
    return pendingPlaces.carried
  })
  return { pendingOf, waiting }
}

const counts = fc.array(fc.oneof(fc.nat(3), fc.integer({ min: 60, max: 70 })), { minLength: 1,
  maxLength: 40 })

describe('carriers', () => {
  it('carry every place up to the last place index row once and in order', () => {
    expectAlways(fc.property(counts, fc.integer({ min: 1, max: 20 }), (placesOfRow, first) => {
      const rows = placesOfRow.map((count, index) => aRow(first + index, count))
      const { pendingOf, waiting } = written(rows)
      const stating = rows.filter(({ places }) => places.length > 0)
      expect([...pendingOf.flat(), ...waiting]).toEqual(stating)
      expect(waiting.every(({ seq }) => seq > indexRowUpTo(rows.at(-1)!.seq))).toBe(true)
    }))
  })

  it('let a next owner know from the rows alone what is left to be carried', () => {
    expectAlways(fc.property(counts, fc.nat(39), fc.nat(12), (placesOfRow, cut, underWay) => {
      const rows = placesOfRow.map((count, index) => aRow(index + 1, count))
      const [before, after] = [rows.slice(0, cut), rows.slice(cut)]
      const settled = Math.max(0, before.length - underWay)
      const { waiting, unconfirmed } = inheritedOf(before.slice(indexRowUpTo(settled)), settled)
      expect(waiting).toEqual(written(before).waiting)
      expect(written(after, waiting).pendingOf).toEqual(written(rows).pendingOf.slice(cut))
      expect(unconfirmed).toEqual(written(rows).pendingOf.slice(settled, cut).flat())
    }))
  })

  it('never carry more places of other rows than one mutation can hold', () => {
    expectAlways(fc.property(counts, (placesOfRow) => {
      const rows = placesOfRow.map((count, index) => aRow(index + 1, count))
      for (const [index, carried] of written(rows).pendingOf.entries()) {
        const others = carried.filter((row) => row !== rows[index])
        expect(others.length).toBeLessThan(8)
        expect(others.every(({ places }) => places.length <= 64)).toBe(true)
      }
    }))
  })

  it('leave later places in their rows, of which the newest counts', () => {
    const [place, again] = [{ id: 'a', seq: 9, base: 1 }, { id: 'a', seq: 0, base: 0 }]
    const rows = [{ epoch: 1, seq: 9, places: [place] }, { epoch: 2, seq: 10, places: [again] }]
    expect(placeIn(rows, 'a')).toEqual(again)
    expect(placeIn(rows.slice(0, 1), 'a')).toEqual(place)
    expect(placeIn(rows, 'b')).toBeUndefined()
  })
})
