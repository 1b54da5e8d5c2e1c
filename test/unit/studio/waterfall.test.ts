/** The waterfall: the tree of a trace, its rows, and the axis of time. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { SpanHead } from '../../../src/studio/api/platform/traces.ts'
import { foldedAtFirst, indentOf, rowsOf,
  treeOf } from '../../../src/studio/traces/waterfall/span-tree.ts'
import { barOf, fitted, microseconds, moved, tickMarks, tickWords, ticksOf,
  zoomed } from '../../../src/studio/traces/waterfall/time-axis.ts'
import { expectAlways } from '../../support/expect-always.ts'

const beganMs = Date.parse('2026-11-27T00:00:00Z')

const span = (id: string, parents: readonly string[], fromMs = 0, toMs: number | null = 10,
  more: Partial<SpanHead> = {}): SpanHead => ({ id, name: `span ${id}`, run_type: 'CHAIN',
    status: 'SUCCESS', start_time: new Date(beganMs + fromMs).toISOString(),
    end_time: toMs === null ? null : new Date(beganMs + toMs).toISOString(), total_tokens: null,
    parent_run_ids: parents, ...more })

const none = new Set<string>()
const idsOf = (rows: readonly { readonly node: { readonly span: SpanHead } }[]) =>
  rows.map(({ node }) => node.span.id)

/** A tree of any shape, in any order, with parents that may be missing. */
const spans = fc.array(fc.tuple(fc.nat(1_000), fc.nat(100), fc.nat(50)), { maxLength: 60 })
  .map((given) => {
    const all: SpanHead[] = []
    for (const [choice, from, length] of given) {
      const parent = all[choice % (all.length + 1)]
      all.push(
        span(String(all.length), parent === undefined ? [] : [...parent.parent_run_ids, parent.id],
          from, from + length),
      )
    }
    return all
  })

describe('a tree', () => {
  it('has each span once, below its parent, in the order of time', () => {
    expectAlways(fc.property(spans, fc.nat(), (made, seed) => {
      const shuffled = made.toSorted((a, b) => hash(a.id, seed) - hash(b.id, seed))
      const rows = rowsOf(treeOf(shuffled, beganMs), none)
      expect(idsOf(rows).toSorted()).toEqual(made.map(({ id }) => id).toSorted())
      const seen: string[] = []
      for (const { node, place, siblings } of rows) {
        expect(place).toBeLessThanOrEqual(siblings)
        if (node.parent !== undefined) expect(seen).toContain(node.parent.span.id)
        expect(node.parent?.span.id).toBe(node.span.parent_run_ids.at(-1))
        expect(node.depth).toBe(node.span.parent_run_ids.length)
        seen.push(node.span.id)
      }
    }))
  })

  it('keeps spans whose parents are missing, and those in a circle', () => {
    const { roots, byId } = treeOf([span('a', []), span('b', ['a', 'gone']), span('c', ['gone']),
      span('d', ['e']), span('e', ['d']), span('f', ['f'])], beganMs)
    expect(byId.size).toBe(6)
    expect(byId.get('b')?.parent?.span.id).toBe('a')
    expect(idsOf(rowsOf({ roots }, none)).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  })

  it('says what failed below, and how much there is', () => {
    const { byId } = treeOf([span('a', []), span('b', ['a']), span('c', ['a', 'b'], 0, 1, {
      status: 'ERROR',
    })], beganMs)
    expect(byId.get('a')).toMatchObject({ below: 2, holdsError: true })
    expect(byId.get('c')).toMatchObject({ below: 0, holdsError: false })
  })

  it('lets what has not ended last until now', () => {
    const tree = treeOf([span('a', [], 0, null, { status: 'PENDING' })], beganMs + 5_000)
    expect(tree).toMatchObject({ isPending: true, whole: { from: 0, to: 5_000_000 } })
  })

  it('folds, and opens the way to what is looked for', () => {
    const tree = treeOf([span('a', []), span('b', ['a']), span('c', ['a', 'b']), span('d', ['a'])],
      beganMs)
    expect(idsOf(rowsOf(tree, new Set(['b'])))).toEqual(['a', 'b', 'd'])
    expect(idsOf(rowsOf(tree, new Set(['a', 'b']), { words: 'SPAN C' }))).toEqual(['a', 'b', 'c'])
    expect(rowsOf(tree, none, { words: 'nothing' })).toEqual([])
  })

  it('of 10 000 spans is drawn at once', () => {
    const many = [span('0', [])]
    while (many.length < 10_000) {
      const parent = many[many.length >> 3]!
      many.push(span(String(many.length), [...parent.parent_run_ids, parent.id]))
    }
    const tree = treeOf(many, beganMs)
    rowsOf(tree, none)
    const began = performance.now()
    const rows = rowsOf(tree, none)
    const took = performance.now() - began
    expect(rows).toHaveLength(10_000)
    expect(took).toBeLessThan(200)
    const folded = foldedAtFirst(tree, 300)
    expect(rowsOf(tree, folded).length).toBeLessThanOrEqual(300)
    expect(foldedAtFirst(treeOf(many.slice(0, 200), beganMs), 300).size).toBe(0)
  })

  it('keeps its depth in narrow panes', () => {
    expect(indentOf(3, 400)).toBe(14)
    expect(indentOf(40, 240)).toBe(3)
  })
})

describe('the axis', () => {
  it('knows microseconds', () => {
    expect(microseconds('2026-11-27T00:00:00.123456Z')).toBe(beganMs * 1_000 + 123_456)
    expect(microseconds('2026-11-27T00:00:00Z')).toBe(beganMs * 1_000)
    expect(microseconds('soon')).toBeNull()
    expect(microseconds(null)).toBeNull()
  })

  const range = fc.tuple(fc.nat(1e9), fc.integer({ min: 100, max: 1e9 }))
    .map(([from, length]) => ({ from, to: from + length }))
  const share = fc.double({ min: 0, max: 1, noNaN: true })

  it('never leaves the trace, and holds the point under the pointer', () => {
    expectAlways(
      fc.property(range, share, share, fc.double({ min: 0.1, max: 10, noNaN: true }),
        (whole, at, begin, factor) => {
          const length = (whole.to - whole.from) / 3
          const from = whole.from + (whole.to - whole.from - length) * begin
          const seen = { from, to: from + length }
          const next = zoomed(seen, whole, factor, at)
          for (const each of [next, moved(seen, whole, factor - 5), fitted(seen, whole)]) {
            expect(each.from).toBeGreaterThanOrEqual(whole.from - 1e-3)
            expect(each.to).toBeLessThanOrEqual(whole.to + 1e-3)
            expect(each.to).toBeGreaterThan(each.from)
          }
          const fixed = seen.from + length * at
          const then = next.from + (next.to - next.from) * at
          if (factor < 1) expect(Math.abs(then - fixed)).toBeLessThan(1)
        }),
    )
  })

  it('has bars within it', () => {
    expectAlways(fc.property(range, range, (bar, seen) => {
      const { left, width } = barOf(bar, seen)
      expect(left).toBeGreaterThanOrEqual(0)
      expect(left + width).toBeLessThanOrEqual(1 + 1e-9)
    }))
    expect(barOf({ from: 25, to: 50 }, { from: 0, to: 100 }))
      .toEqual({ left: 0.25, width: 0.25, isOutside: false })
    expect(barOf({ from: 0, to: 5 }, { from: 10, to: 20 })).toMatchObject({ width: 0,
      isOutside: true })
  })

  it('has round ticks, and not too many', () => {
    expect(ticksOf({ from: 0, to: 1_000_000 }, 5).map(tickWords))
      .toEqual(['0', '200 ms', '400 ms', '600 ms', '800 ms', '1 s'])
    expectAlways(fc.property(range, (seen) => {
      expect(ticksOf(seen, 8).length).toBeLessThanOrEqual(9)
    }))
  })

  it('has words within the ruler, none of which covers another', () => {
    const whole = { from: 0, to: 21_000 }
    const sides = (px: number) =>
      tickMarks(ticksOf(whole, 5), whole, px).map(({ us, side }) => `${tickWords(us)} ${side}`)
    expect(sides(600)).toEqual(['0 after', '5 ms after', '10 ms after', '15 ms after',
      '20 ms before'])
    expect(sides(300)).toEqual(['0 after', '5 ms after', '10 ms after', '15 ms after'])
    expect(tickMarks([0, 20_000], whole, 140)).toEqual([{ us: 0, side: 'after' }, { us: 20_000,
      side: 'before' }])
    expect(tickMarks([20_000], { from: 19_999, to: 21_000 }, 30)).toEqual([])
  })
})

function hash(id: string, seed: number): number {
  return (Number(id) * 7_919 + seed) % 101
}
