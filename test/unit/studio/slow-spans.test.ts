/** Slow spans of a trace: own times, the slowest ones, the critical path, and conditions. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { readTraceSearch } from '../../../src/studio/addresses/traces.ts'
import type { SpanHead } from '../../../src/studio/api/platform/traces.ts'
import { criticalPathOf } from '../../../src/studio/traces/waterfall/critical-path.ts'
import { heatOf, ownShareOf, ownTimeOf,
  slowestOf } from '../../../src/studio/traces/waterfall/own-time.ts'
import { rowsOf, treeOf } from '../../../src/studio/traces/waterfall/span-tree.ts'
import { expectAlways } from '../../support/expect-always.ts'

const beganMs = Date.parse('2026-11-27T00:00:00Z')

const span = (id: string, parents: readonly string[], fromMs: number, toMs: number,
  more: Partial<SpanHead> = {}): SpanHead => ({ id, name: `span ${id}`, run_type: 'CHAIN',
    status: 'SUCCESS', start_time: new Date(beganMs + fromMs).toISOString(),
    end_time: new Date(beganMs + toMs).toISOString(), total_tokens: null, parent_run_ids: parents,
    ...more })

const none = new Set<string>()

/** A root; `fast` and `slow` beside each other; then `last`, with a call in it. */
const spans = [span('root', [], 0, 100), span('fast', ['root'], 10, 30),
  span('slow', ['root'], 10, 60, { status: 'ERROR' }), span('last', ['root'], 60, 95),
  span('call', ['root', 'last'], 65, 90, { run_type: 'LLM' })]
const tree = treeOf(spans, beganMs)
const idsOf = (look: Parameters<typeof rowsOf>[2]) =>
  rowsOf(tree, none, look).filter(({ isMatch }) => isMatch).map(({ node }) => node.span.id)

/** Traces whose spans may begin before their parents, and outlive them. */
const traces = fc.array(fc.tuple(fc.nat(1_000), fc.nat(100), fc.nat(80)), { minLength: 1,
  maxLength: 40 }).map((given) => {
    const all: SpanHead[] = [span('0', [], 0, 100)]
    for (const [choice, from, length] of given) {
      const parent = all[choice % all.length]!
      all.push(span(String(all.length), [...parent.parent_run_ids, parent.id], from, from + length))
    }
    return treeOf(all, beganMs)
  })

describe('own time', () => {
  it('is what no child covers, counted once where children overlap', () => {
    const owns = Object.fromEntries([...tree.byId].map(([id, node]) => [id, ownTimeOf(node)]))
    expect(owns).toEqual({ root: 15_000, fast: 20_000, slow: 50_000, last: 10_000, call: 25_000 })
    expect(ownShareOf(tree.byId.get('slow')!, tree)).toBe(0.5)
  })

  it('is never negative, and never longer than the span', () => {
    expectAlways(fc.property(traces, (made) => {
      for (const node of made.byId.values()) {
        expect(ownTimeOf(node)).toBeGreaterThanOrEqual(0)
        expect(ownTimeOf(node)).toBeLessThanOrEqual(node.to - node.from)
      }
    }))
  })

  it('has four colours', () => {
    expect([0, 0.04, 0.05, 0.2, 0.49, 0.5, 1].map(heatOf)).toEqual([0, 0, 1, 2, 2, 3, 3])
  })

  it('puts the slowest first, and no more than asked for', () => {
    expect(slowestOf(tree, 2).map(({ span: { id } }) => id)).toEqual(['slow', 'call'])
    expect(slowestOf(tree, 10)).toHaveLength(5)
  })
})

describe('the critical path', () => {
  it('goes back from the end through what ended last', () => {
    const path = criticalPathOf(tree)
    expect([...path.keys()].toSorted()).toEqual(['call', 'last', 'root', 'slow'])
    expect(path.get('root')).toEqual([{ from: 95_000, to: 100_000 }, { from: 0, to: 10_000 }])
    expect(path.get('last')).toEqual([{ from: 90_000, to: 95_000 }, { from: 60_000, to: 65_000 }])
  })

  it('covers the time of a root exactly, without a moment twice', () => {
    expectAlways(fc.property(traces, (made) => {
      const root = made.roots[0]!
      const ranges = [...criticalPathOf({ roots: [root], whole: root }).values()].flat()
        .toSorted((a, b) => a.from - b.from)
      expect(ranges[0]?.from).toBe(root.from)
      expect(ranges.at(-1)?.to).toBe(root.to)
      for (const [at, { from }] of ranges.slice(1).entries()) expect(from).toBe(ranges[at]!.to)
    }))
  })

  it('of a chain of 3 000 spans is known at once', () => {
    const chain: SpanHead[] = []
    for (let at = 0; at < 3_000; at++) {
      chain.push(span(String(at), at === 0 ? [] : [String(at - 1)], 0, 6_000 - at))
    }
    const long = treeOf(chain, beganMs)
    const began = performance.now()
    expect(criticalPathOf(long).size).toBe(3_000)
    expect(performance.now() - began).toBeLessThan(200)
  })
})

describe('the spans that are looked for', () => {
  it('meet each condition', () => {
    expect(idsOf({ words: 'SPAN L' })).toEqual(['last'])
    expect(idsOf({ words: 'llm' })).toEqual(['call'])
    expect(idsOf({ words: 'oslo', inTexts: new Set(['fast', 'call']) })).toEqual(['fast', 'call'])
    expect(idsOf({ failed: true })).toEqual(['slow'])
    expect(idsOf({ leastUs: 35_000 })).toEqual(['root', 'slow', 'last'])
    expect(idsOf({ leastUs: 35_000, failed: true })).toEqual(['slow'])
    expect(idsOf({ only: criticalPathOf(tree) })).toEqual(['root', 'slow', 'last', 'call'])
    expect(rowsOf(tree, none, {})).toHaveLength(5)
  })

  it('are part of the address, which may hold anything', () => {
    expect(readTraceSearch({ failed: 'on', least: 1000, path: 'on', slow: 'on' }))
      .toMatchObject({ failed: 'on', least: '1000', path: 'on', slow: 'on' })
    expect(readTraceSearch({ failed: 'x', least: '1e9', path: {}, slow: ['on'] }))
      .toEqual({ span: undefined, q: undefined, failed: undefined, least: undefined,
        path: undefined, slow: undefined, pane: undefined })
  })
})
