/** Pictures of graphs: what is drawn of them, where it lies, and what it shows of a run. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { GraphPicture } from '../../../src/api/index.ts'
import { boxesAround, drawingOf, hashOf, startsFolded } from '../../../src/studio/graph/drawing.ts'
import { layered } from '../../../src/studio/graph/layered.ts'
import { place } from '../../../src/studio/graph/layout.ts'
import { activityOf, edgeActivities, spoken } from '../../../src/studio/graph/node-activity.ts'
import { curve } from '../../../src/studio/graph/placed.ts'
import type { NodeState, NodeStates } from '../../../src/studio/live/node-state.ts'
import { expectAlways } from '../../support/expect-always.ts'

const none: ReadonlySet<string> = new Set()

function picture(ids: readonly string[],
  ends: readonly (readonly [string, string])[]): GraphPicture {
  return { nodes: ids.map((id) => ({ id, type: 'runnable', data: {} })),
    edges: ends.map(([source, target]) => ({ source, target })) }
}

/** Graphs of up to `most` nodes, some in boxes in boxes, with edges anywhere. */
const pictures = (most: number) =>
  fc.integer({ min: 1, max: most }).chain((size) => {
    const ids = Array.from({ length: size }, (_, at) =>
      [...at % 3 === 1 ? [`box${at % 5}`] : at % 7 === 3 ? [`box${at % 5}`, `in${at % 2}`] : [],
        `n${at}`].join(':'))
    const all = ['__start__', ...ids, '__end__', 'box1', 'nowhere']
    return fc.array(fc.tuple(fc.constantFrom(...all), fc.constantFrom(...all)), {
      maxLength: size + 2,
    }).map((ends) => picture(['__start__', ...ids, '__end__'], ends))
  })

function expectPlaced(shown: GraphPicture, turned: ReadonlySet<string> = none): void {
  const drawing = drawingOf(shown, turned)
  for (const placed of [place(drawing, 'down'), layered(drawing, 'down'),
    layered(drawing, 'right')]) {
    expect(placed.nodes.map(({ id }) => id)).toEqual(
      placed.nodes.length === 0 ? [] : expect.arrayContaining(drawing.nodes.map(({ id }) => id)),
    )
    expect(placed.edges).toHaveLength(drawing.edges.length)
    for (const { x, y } of placed.nodes) expect(Number.isFinite(x + y)).toBe(true)
    for (const { points } of placed.edges) expect(curve(points)).toMatch(/^M[^N]+$/)
  }
}

describe('a layout', () => {
  it('is found for 300 random graphs', () => {
    expectAlways(fc.property(pictures(9), (shown) => expectPlaced(shown)))
  }, 60_000)

  it('is found for large ones with all boxes open', () => {
    expectAlways(
      fc.property(pictures(260), (shown) => {
        const boxes = new Set(shown.nodes.flatMap(({ id }) => boxesAround(String(id))))
        expectPlaced(shown, startsFolded(shown) ? boxes : none)
      }),
    )
  }, 60_000)

  it('in layers puts each node below those before it', () => {
    const { nodes } = layered(
      drawingOf(
        picture(['a', 'b', 'c', 'd'], [['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'd'], ['d', 'a']]),
        none,
      ),
      'down',
    )
    const y = Object.fromEntries(nodes.map((node) => [node.id, node.y]))
    expect([y['a']! < y['b']!, y['b'] === y['c'], y['c']! < y['d']!]).toEqual([true, true, true])
  })

  it('to the right keeps the size of nodes, and their order from left to right', () => {
    const drawing = drawingOf(picture(['a', 'b', 'c'], [['a', 'b'], ['b', 'c']]), none)
    for (const placed of [place(drawing, 'right'), layered(drawing, 'right')]) {
      expect(placed.nodes.map(({ width, height }) => [width, height]))
        .toEqual([[146, 36], [146, 36], [146, 36]])
      const x = Object.fromEntries(placed.nodes.map((node) => [node.id, node.x]))
      expect([x['a']! + 146 < x['b']!, x['b']! + 146 < x['c']!]).toEqual([true, true])
      expect(placed.width).toBeGreaterThan(placed.height)
    }
  })
})

describe('a drawing', () => {
  const nested = picture(['__start__', 'sub:a', 'sub:in:b', 'after', '__end__'], [
    ['__start__', 'sub'],
    ['sub:a', 'sub:in:b'],
    ['sub', 'after'],
    ['after', '__end__'],
    ['after', 'after'],
    ['after', 'unknown'],
  ])

  it('has a box for each subgraph, and edges from leaf to leaf', () => {
    const { nodes, boxes, edges } = drawingOf(nested, none)
    expect(nodes.map(({ id, box, kind }) => [id, box, kind])).toEqual([
      ['__start__', null, 'start'],
      ['sub:a', 'sub', 'node'],
      ['sub:in:b', 'sub:in', 'node'],
      ['after', null, 'node'],
      ['__end__', null, 'end'],
    ])
    expect(boxes.map(({ id, box }) => [id, box])).toEqual([['sub', null], ['sub:in', 'sub']])
    expect(edges.map(({ id }) => id)).toEqual(['__start__ → sub:a', 'sub:a → sub:in:b',
      'sub:in:b → after', 'after → __end__', 'after → after'])
  })

  it('has one node for a folded box', () => {
    const { nodes, boxes, edges } = drawingOf(nested, new Set(['sub']))
    expect(nodes.map(({ id, kind, holds }) => [id, kind, holds])[1]).toEqual(['sub', 'folded', 2])
    expect(boxes).toEqual([])
    expect(edges.map(({ id }) => id)).toEqual(['__start__ → sub', 'sub → after', 'after → __end__',
      'after → after'])
  })

  it('of more than 40 nodes starts with its boxes folded', () => {
    const large = picture(Array.from({ length: 41 }, (_, at) => `box${at % 4}:n${at}`), [])
    expect(drawingOf(large, none).nodes.map(({ id }) => id)).toEqual(['box0', 'box1', 'box2',
      'box3'])
    expect(drawingOf(large, new Set(['box0'])).nodes).toHaveLength(11 + 3)
  })

  it('is known by what is drawn', () => {
    expect(hashOf(drawingOf(nested, none))).toBe(hashOf(drawingOf(nested, none)))
    expect(hashOf(drawingOf(nested, none))).not.toBe(hashOf(drawingOf(nested, new Set(['sub']))))
  })
})

describe('activity', () => {
  const shown = picture(['__start__', 'model', 'tools', '__end__'], [['__start__', 'model'], [
    'model',
    'tools',
  ], ['tools', 'model'], ['model', '__end__']])
  const drawing = drawingOf(shown, none)
  const did = (state: NodeState['state'], startedMs: number | null, endedMs: number | null,
    times = 1): NodeState => ({ state, startedMs, endedMs, times })
  const edges = (states: NodeStates) => Object.fromEntries(edgeActivities(drawing, states))

  it('is active on the way to what runs, and taken behind it', () => {
    expect(edges({ model: did('running', 5, null) })).toMatchObject({
      '__start__ → model': 'active',
      'model → tools': 'idle',
    })
    expect(edges({ model: did('done', 5, 9), tools: did('running', 9, null) })).toMatchObject({
      '__start__ → model': 'taken',
      'model → tools': 'active',
      'tools → model': 'idle',
    })
  })

  it('is taken to the end only when all is done', () => {
    const states = { model: did('done', 20, 25, 2), tools: did('done', 9, 20) }
    expect(edges(states)['model → __end__']).toBe('taken')
    expect(edges({ ...states, tools: did('waiting', 9, null) })['model → __end__']).toBe('idle')
  })

  it('of a folded box is the most urgent inside', () => {
    const folded = drawingOf(picture(['sub:a', 'sub:b'], [['sub:a', 'sub:b']]), new Set(['sub']))
    const states = { 'sub:a': did('done', 1, 3), 'sub:b': did('running', 3, null) }
    expect(activityOf(folded.nodes[0]!, states)).toEqual(did('running', 1, null))
    expect(activityOf(folded.nodes[0]!, {})).toBe(undefined)
  })

  it('is said in words', () => {
    expect(spoken({ 'sub:a': did('running', 1, null) })).toBe('sub, a is running')
    expect(spoken({ a: did('running', 1, null), b: did('running', 1, null) }))
      .toBe('a and b are running')
    expect(spoken({ a: did('waiting', 1, null) })).toBe('a waits for you')
    expect(spoken({ a: did('done', 1, 2) })).toBe('')
  })
})
