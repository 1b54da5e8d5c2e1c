/** Lanes of the time line: of lines, of branches, of any tree. */

import { describe, expect, it } from 'vitest'

import { lanesOf } from '../../../src/studio/timeline/lanes.ts'
import type { Knot, Lane } from '../../../src/studio/timeline/lanes.ts'

/** Steps newest first, from `child<parent` words that are oldest first. */
const knots = (words: string): readonly Knot[] =>
  words.split(' ').map((word) => {
    const [id = '', parent] = word.split('<')
    return { id, parent }
  }).toReversed()

/** Numbers that are the same in each run of the tests. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = Math.imul(state ^ state >>> 15, state | 1)
    state ^= state + Math.imul(state ^ state >>> 7, state | 61)
    return ((state ^ state >>> 14) >>> 0) / 2 ** 32
  }
}

/** A tree of up to 60 steps, newest first; now and then the parent was not read. */
function randomTree(seed: number): readonly Knot[] {
  const random = chance(seed)
  const count = 1 + Math.floor(random() * 60)
  const tree = Array.from({ length: count }, (_, at): Knot => {
    const from = random() < 0.7 ? at - 1 : Math.floor(random() * at)
    return { id: `${at}`, parent: at === 0 ? undefined : `${from}` }
  })
  return tree.toReversed().slice(0, random() < 0.3 ? Math.ceil(count / 2) : count)
}

describe('lanes', () => {
  it('a line has one lane', () => {
    expect(lanesOf(knots('a b<a c<b'), 'c')).toEqual([
      { lane: 0, through: [], joins: [], isTip: true, hasParent: true },
      { lane: 0, through: [], joins: [], isTip: false, hasParent: true },
      { lane: 0, through: [], joins: [], isTip: false, hasParent: false },
    ])
  })

  it('the branch that leads to now is the first lane, whichever is newer', () => {
    const tree = knots('a b<a c<a d<b e<c')
    expect(lanesOf(tree, 'e').map(({ lane }) => lane)).toEqual([0, 1, 0, 1, 0])
    expect(lanesOf(tree, 'd').map(({ lane }) => lane)).toEqual([1, 0, 1, 0, 0])
    expect(lanesOf(tree, 'e').at(-1)).toMatchObject({ lane: 0, joins: [1], isTip: false })
  })

  it('three branches of one step end there', () => {
    const lanes = lanesOf(knots('a b<a c<a d<a'), 'd')
    expect(lanes.map(({ lane }) => lane)).toEqual([0, 1, 2, 0])
    expect(lanes.at(-1)!.joins).toEqual([1, 2])
  })

  it('a line whose parent was not read goes on below', () => {
    expect(lanesOf([{ id: 'b', parent: 'a' }], 'b')[0]).toMatchObject({ hasParent: true })
  })

  it('of 1 000 trees, every line leads to its parent and crosses no other', () => {
    for (let seed = 1; seed <= 1_000; seed++) {
      const tree = randomTree(seed)
      const head = tree[Math.floor(chance(seed + 5_000)() * tree.length)]!.id
      expect(isSound(tree, lanesOf(tree, head)), `seed ${seed}`).toBe(true)
    }
  })
})

/** Walks down the rows as an eye does: which step does the line on each lane come from? */
function isSound(tree: readonly Knot[], lanes: readonly Lane[]): boolean {
  const open = new Map<number, string>()
  const parents = new Map(tree.map(({ id, parent }) => [id, parent]))
  for (const [at, { id, parent }] of tree.entries()) {
    const { lane, through, joins, isTip, hasParent } = lanes[at]!
    const mine = isTip ? joins : [...joins, lane]
    const comes = mine.every((each) => open.has(each) && parents.get(open.get(each)!) === id)
    for (const each of mine) open.delete(each)
    const passes = [...open.keys()].sort((one, other) => one - other)
    if (!comes || open.has(lane) || passes.join() !== through.join()) return false
    if (hasParent !== (parent !== undefined)) return false
    if (hasParent) open.set(lane, id)
  }
  return [...open.values()].every((child) => !parents.has(parents.get(child)!))
}
