/** Long lists: which rows are drawn, which page they lie in, and how it is asked for. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { clampTop, heightMax, rowsAt, scaleOf, scrolledHeight,
  topToSee } from '../../../src/studio/rows/row-window.ts'
import { pageRows, pagesOf, questionOf } from '../../../src/studio/threads/page-window.ts'
import { expectAlways } from '../../support/expect-always.ts'

const spaces = fc.record({
  total: fc.integer({ min: 1, max: 5_000_000 }),
  rowHeight: fc.integer({ min: 20, max: 80 }),
  viewHeight: fc.integer({ min: 100, max: 1_400 }),
})

describe('a list', () => {
  it('shows any row that is wanted, and draws few others', () => {
    expectAlways(fc.property(spaces, fc.nat(), fc.nat(), (space, from, wanted) => {
      const row = wanted % space.total
      const top = topToSee(space, clampTop(space, from), row)
      const { first, last } = rowsAt(space, top, 0)
      expect(row).toBeGreaterThanOrEqual(first)
      expect(row).toBeLessThanOrEqual(last)
      expect(last - first).toBeLessThanOrEqual(space.viewHeight / space.rowHeight + 2)
      // A row that is seen moves nothing.
      expect(topToSee(space, top, row)).toBe(top)
    }))
  })

  it('is never higher than a browser can draw, and its bar reaches both ends', () => {
    expectAlways(fc.property(spaces, (space) => {
      expect(scrolledHeight(space)).toBeLessThanOrEqual(heightMax)
      const end = Math.max(0, scrolledHeight(space) - space.viewHeight)
      const top = clampTop(space, end * scaleOf(space))
      expect(rowsAt(space, 0, 0).first).toBe(0)
      expect(rowsAt(space, top + 1e-6, 0).last).toBe(space.total - 1)
    }))
  })

  it('without rows draws none', () => {
    const { first, last } = rowsAt({ total: 0, rowHeight: 52, viewHeight: 700 }, 0, 8)
    expect(last).toBeLessThan(first)
  })
})

describe('a page', () => {
  it('answers the rows of its place, from whichever end it is asked', () => {
    expectAlways(fc.property(fc.integer({ min: 1, max: 3_000 }), fc.nat(), (total, number) => {
      const rows = Array.from({ length: total }, (_, at) => at)
      const page = number % Math.ceil(total / pageRows)
      const { offset, limit, reversed } = questionOf(page, total)
      const asked = (reversed ? rows.toReversed() : rows).slice(offset, offset + limit)
      expect(reversed ? asked.toReversed() : asked)
        .toEqual(rows.slice(page * pageRows, (page + 1) * pageRows))
      expect(offset).toBeLessThanOrEqual(total / 2 + pageRows)
    }))
  })

  it('of rows on the screen is one, or two at an edge', () => {
    expect(pagesOf(0, 20)).toEqual([0])
    expect(pagesOf(95, 110)).toEqual([0, 1])
    expect(pagesOf(-3, -1)).toEqual([0])
  })
})
